package leaf

// Repetition says how often a node occurs in its parent.
type Repetition uint8

// The repetitions of the Parquet format.
const (
	Required Repetition = iota
	Optional
	Repeated
)

// Type is the physical type of a leaf.
type Type uint8

// The physical types. Int96 occurs only in files of old writers.
const (
	Group Type = iota // an inner node, without values of its own
	Bool
	Int32
	Int64
	Int96
	Float
	Double
	Bytes
	Fixed
)

// Logical is the annotation of a node.
type Logical uint8

// The annotations that Frazil reads or writes.
const (
	None Logical = iota
	String
	Decimal   // Precision and Scale
	Date      // days since 1970-01-01
	Time      // Unit, UTC
	Timestamp // Unit, UTC
	Integer   // Bits, Signed
	UUID
	List
	Map
	Variant
	JSON
	BSON
	Enum
	Float16
	Unknown
	Other // an annotation that is not in this list
)

// Unit is the resolution of a Time or Timestamp.
type Unit uint8

// The resolutions.
const (
	Micros Unit = iota
	Nanos
	Millis
)

// Node is one node of a Parquet schema. Only the fields that belong to its
// annotation are set.
type Node struct {
	Name       string
	Repetition Repetition
	Type       Type
	Width      int // bytes of a Fixed value
	Logical    Logical
	Precision  int  // Decimal
	Scale      int  // Decimal
	Bits       int  // Integer
	Signed     bool // Integer
	Unit       Unit // Time, Timestamp
	UTC        bool // Time, Timestamp: normalized to UTC
	FieldID    int  // Iceberg's field id; 0 when the node has none
	Children   []*Node
}

// DecimalWidth is the least number of bytes of a two's complement number with any
// digits of a precision: the least n with 10^precision <= 2^(8n-1).
func DecimalWidth(precision int) int {
	// log2(10) is 3.32193 to five digits; no precision up to 38 is so close
	// to a power of 256 that the sixth would matter.
	return (precision*332193/100000 + 9) / 8
}

// Child returns the child with the given name, or nil. Names are compared as
// they are: a dot in a name has no meaning.
func (n *Node) Child(name string) *Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Info describes a leaf in its tree.
type Info struct {
	Node   *Node
	Path   []string // names from below the root
	MaxDef uint8
	MaxRep uint8
}

// Leaves lists the leaves below n, depth first, in the order of the Parquet
// columns. The levels count from n's children: n's own repetition is that of a
// schema root and adds nothing.
func (n *Node) Leaves() []Info {
	var out []Info
	for _, c := range n.Children {
		out = appendLeaves(out, c, nil, 0, 0)
	}
	return out
}

func appendLeaves(out []Info, n *Node, path []string, def, rep uint8) []Info {
	path = append(path[:len(path):len(path)], n.Name)
	switch n.Repetition {
	case Required:
	case Optional:
		def++
	case Repeated:
		def++
		rep++
	}
	if n.Type != Group {
		return append(out, Info{Node: n, Path: path, MaxDef: def, MaxRep: rep})
	}
	for _, c := range n.Children {
		out = appendLeaves(out, c, path, def, rep)
	}
	return out
}
