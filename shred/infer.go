package shred

import "github.com/frazil/frazil/variant"

// InferOptions are the limits of inference; the zero value is the default.
type InferOptions struct {
	MinFrequency    float64 // least share of rows that have a field; 0.10
	MaxFields       int     // shredded fields of one object; 300
	MaxDepth        int     // 50
	MaxIntermediate int     // distinct fields of one object that are tracked; 1000
	MaxRows         int     // rows of sample; 100
	Majority        float64 // least share of one class in a field; 0.90
	Parse           variant.ParseOptions
}

// Inferer infers a schema from a sample of rows.
type Inferer struct{}

// NewInferer returns an empty Inferer.
func NewInferer(o InferOptions) *Inferer { return &Inferer{} }

// AddJSON adds a row.
func (i *Inferer) AddJSON(text []byte) error { return nil }

// AddValue adds a row.
func (i *Inferer) AddValue(v variant.Value) error { return nil }

// Full reports whether the sample has MaxRows rows.
func (i *Inferer) Full() bool { return true }

// Schema returns the schema that fits the sample.
func (i *Inferer) Schema() *Schema { return &Schema{} }
