package variant

// Sink consumes a value as events: the one language between the JSON parser,
// the decoder of Variant bytes, the Builder, and the writers of shredded
// columns.
//
// A value is one Scalar, or Begin, its children, End. Inside an object each
// child is preceded by Key. A row is exactly one value. Keys come in the order
// of the source, unique within their object unless the producer says otherwise.
//
// A sink keeps its first error, ignores what follows, and reports it from Err;
// producers ask at the end of each value, not after each event.
type Sink interface {
	// Begin opens a container; k is KindObject or KindArray.
	Begin(k Kind)
	// End closes the container that was opened last.
	End()
	// Key names the next child of an object. The bytes are valid UTF-8 and
	// valid during the call only: another name may follow in the same memory,
	// but for names from a Parser, which says so.
	Key(name []byte)
	// Scalar takes a value that is not a container. The scalar, and the bytes
	// it points at, are valid during the call only.
	Scalar(s *Scalar)
	// Err returns the first error since the sink was reset.
	Err() error
}
