package variant

import (
	"encoding/binary"
	"math/bits"
)

// blank skips blank space. Most texts have none, or a space; indented ones have long
// runs of spaces behind a line's end.
func (p *Parser) blank(pos int) int {
	if pos < len(p.text) && p.text[pos] <= ' ' {
		return p.blankRun(pos)
	}
	return pos
}

func (p *Parser) blankRun(pos int) int {
	text := p.text
	for pos < len(text) {
		switch text[pos] {
		case ' ', '\t', '\n', '\r':
			pos++
		default:
			return pos
		}
		for len(text)-pos >= 8 {
			other := binary.LittleEndian.Uint64(text[pos:]) ^ swarSpace
			if other != 0 {
				pos += bits.TrailingZeros64(other) >> 3
				break
			}
			pos += 8
		}
	}
	return pos
}
