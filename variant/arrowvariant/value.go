package arrowvariant

import (
	"errors"
	"fmt"

	arrowgo "github.com/apache/arrow-go/v18/parquet/variant"

	"github.com/frazil/frazil/variant"
)

// FromValue returns an arrow-go value as a view of the same bytes, after checking
// all of them: arrow-go accepts bytes that the encoding does not. An error Is
// variant.ErrCorrupt.
func FromValue(v arrowgo.Value) (variant.Value, error) {
	return variant.New(v.Metadata().Bytes(), v.Bytes())
}

// ErrArrow is returned by [ToValue] for valid values that arrow-go cannot read, such
// as those over 126 names or more: version 18.8.0 panics on a table of offsets
// longer than 255 bytes.
var ErrArrow = errors.New("arrowvariant: arrow-go does not read this value")

// ToValue returns v as an arrow-go value over the same bytes. An error Is [ErrArrow],
// or variant.ErrUsage when v is missing.
func ToValue(v variant.Value) (out arrowgo.Value, err error) {
	if v.IsMissing() {
		return out, fmt.Errorf("arrowvariant: %w: a missing value", variant.ErrUsage)
	}
	defer func() {
		if r := recover(); r != nil {
			out, err = arrowgo.Value{}, fmt.Errorf("%w: %v", ErrArrow, r)
		}
	}()
	if out, err = arrowgo.New(v.Metadata(), v.Bytes()); err != nil {
		return arrowgo.Value{}, fmt.Errorf("%w: %w", ErrArrow, err)
	}
	return out, nil
}
