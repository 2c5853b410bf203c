package report

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// count writes a whole number in groups of thousands.
func count(n any) string {
	s := fmt.Sprint(n)
	neg := ""
	if s[0] == '-' {
		neg, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return neg + s
}

func size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	x := float64(n)
	for _, u := range units {
		if x < 1000 || u == "TB" {
			if u == "B" {
				return fmt.Sprintf("%d B", n)
			}
			return fmt.Sprintf("%.1f %s", x, u)
		}
		x /= 1000
	}
	return ""
}

// money writes an amount in a unit that fits.
func money(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e9:
		return fmt.Sprintf("%.2f bn", x/1e9)
	case a >= 1e6:
		return fmt.Sprintf("%.1f m", x/1e6)
	case a >= 1e3:
		return fmt.Sprintf("%.1f k", x/1e3)
	}
	return fmt.Sprintf("%.2f", x)
}

func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}

func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0f µs", float64(d)/1e3)
}

func px(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
