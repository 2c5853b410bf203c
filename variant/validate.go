package variant

// ValidateMetadata checks a dictionary in full. An error Is ErrCorrupt.
func ValidateMetadata(b []byte) error {
	d, ok := viewDict(b)
	if !ok {
		return corruptMeta(0, "bad header or truncated offsets")
	}
	for i := range d.n {
		if _, ok := d.name(i); !ok {
			return corruptMeta(1+(i+1)*d.width, "offset out of order or range")
		}
	}
	return nil
}

// Validate checks every rule of VariantEncoding.md on the bytes of v.
func (v Value) Validate() error {
	if err := ValidateMetadata(v.metadata); err != nil {
		return err
	}
	return v.Emit(discard{})
}

// Validate is v.Validate.
func Validate(v Value) error { return v.Validate() }
