package variant

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Builder assembles one value at a time from events or calls, straight into its
// final bytes. It is a Sink; it keeps the first error, and works again after
// Reset. It is for one goroutine.
//
// Values that are written one after another tend to have the same shape. A
// builder remembers the shapes, the dictionaries and the sizes of headers it has
// seen, so that a value like an earlier one is written without sorting, without
// moving bytes and without allocation. Values over the same set of names share
// the very same metadata slice.
type Builder struct {
	tree  *shapeTree
	cache ownDicts

	buf    []byte
	head   int     // where the value starts in buf
	frames []frame // frames[0] is the document
	top    *frame  // the innermost open one
	data   int     // top.data
	state  builderState
	fields []field // of the open containers

	dict    *dictionary    // the given one; nil when names make up their own
	row     *rowShape      // of the objects that ended; nil when not remembered
	patches []patch        // own dictionary: objects whose ids are not known yet
	shapes  []*objectShape // of patches, each once
	log     []*key         // keys of patches without shape
	serial  uint64         // of the document

	ids        [maxShapeFields]int32 // scratch
	wideBuf    []byte                // scratch of widen
	wideStarts []uint32
	wideOrder  []int32
	maxSize    int
	done       *dictionary // of the finished value
	err        error
}

// builderState says what may come next.
type builderState uint8

const (
	stateDone    builderState = iota // nothing
	stateValue                       // a value: the document's, or a field's
	stateKey                         // in an object: a key or the end
	stateElement                     // in an array: a value or the end
)

// frame is an open container. Its values start at buf[data], after a gap at start
// for the header, whose size is predicted.
type frame struct {
	shape   *objectShape // object: of the fields so far; nil when there is none
	start   int
	data    int
	fields  int          // index into Builder.fields of its first
	claims  int          // keyTable claims when it opened
	patches int          // index into Builder.patches of its first
	at      *objectShape // the field it is in, for predictions
	header  *int32       // where the prediction of its header is
	object  bool
}

// field is a value in an open container: in the high half the keyTable index of its
// key, in objects; in the low half its start, from the container's data. One word is
// cheaper to append than two halves.
type field uint64

func (f field) key() int32 { return int32(f >> 32) }
func (f field) at() uint32 { return uint32(f) }

// patch is an ended object that lacks its field ids.
type patch struct {
	start int          // of its header
	ids   int          // of the first id, in bytes
	shape *objectShape // of its fields; nil: log[from:from+n]
	dict  *dictionary  // whose ids it has for now; nil: none
	width int          // of an id
	from  int
	n     int
}

// NewBuilder returns a builder that is ready for a value with its own dictionary.
func NewBuilder() *Builder {
	b := &Builder{tree: newShapeTree(), maxSize: MaxSize}
	b.cache.clear()
	b.Reset()
	return b
}

// Reset starts a value whose dictionary is made of its own names, sorted. It ends
// the lifetime of the value before.
func (b *Builder) Reset() {
	b.restart()
	b.dict, b.row = nil, b.cache.start
}

// ResetMetadata starts a value over a given dictionary, which must have every
// name that comes; a name it lacks is an error that Is ErrUnknownKey. The value's
// metadata is then m.Bytes(). It ends the lifetime of the value before.
func (b *Builder) ResetMetadata(m *Metadata) {
	b.restart()
	b.dict, b.row = b.cache.of(m), nil
}

func (b *Builder) restart() {
	b.tree.release(0)
	if b.tree.stale() {
		b.tree.clear()
		b.cache.clear()
	}
	b.buf, b.fields = b.buf[:0], b.fields[:0]
	b.patches, b.shapes, b.log = b.patches[:0], b.shapes[:0], b.log[:0]
	b.serial++
	b.frames = append(b.frames[:0], frame{at: b.tree.document})
	b.top, b.data, b.head = &b.frames[0], 0, 0
	b.state, b.done, b.err = stateValue, nil, nil
}

// Err returns the first error since the last Reset.
func (b *Builder) Err() error { return b.err }

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
	b.state = stateDone
}

// Depth returns the number of containers that are open.
func (b *Builder) Depth() int { return len(b.frames) - 1 }

// Begin opens a container: KindObject or KindArray.
func (b *Builder) Begin(k Kind) {
	if !b.place() {
		return
	}
	if !k.IsContainer() {
		b.fail(fmt.Errorf("%w: Begin of %v", ErrUsage, k))
		return
	}
	b.open(k == KindObject, b.innermost())
}

// place makes room for a value where one may come.
func (b *Builder) place() bool {
	switch b.state {
	case stateElement:
		b.element()
	case stateValue:
		b.state = stateDone
		if b.top.object {
			b.state = stateKey
		}
	case stateKey, stateDone:
		b.fail(fmt.Errorf("%w: a value where none may come", ErrUsage))
		return false
	}
	return true
}

// element notes the start of an array's next element.
func (b *Builder) element() {
	b.note(0)
}

// innermost returns the shape that ends in the field in which a container opens.
func (b *Builder) innermost() *objectShape {
	switch {
	case !b.top.object:
		return b.top.at
	case b.top.shape == nil:
		return b.tree.lost
	}
	return b.top.shape
}

// maxGap is the most that is left for a header of predicted size. Arrays in arrays
// share a prediction, so that after a large one each level of a deep one leaves as
// much; the values behind a larger header move when it is written.
const maxGap = 4 << 10

// open starts a container whose place is made, in the field that ends the shape at.
func (b *Builder) open(object bool, at *objectShape) {
	if len(b.frames) > MaxDepth {
		b.fail(ErrDepth)
		return
	}
	header := &at.element
	if b.top.object {
		header = &at.header
	}
	start, gap := len(b.buf), min(int(*header), maxGap)
	data := start + gap
	b.grow(gap)
	b.buf = b.buf[:data]
	f := b.push()
	f.start, f.data, f.fields = start, data, len(b.fields)
	f.claims, f.patches = len(b.tree.claimed), len(b.patches)
	f.shape, f.at, f.header, f.object = nil, at, header, object
	b.top, b.data = f, data
	b.state = stateElement
	if object {
		b.state = stateKey
		f.shape = b.tree.root
	}
}

// push makes room for a frame. Its fields are set one by one, here and for other
// structs on the way of every value: a literal would be built on the stack and then
// copied in wider words than it was written in, which processors do slowly.
func (b *Builder) push() *frame {
	n := len(b.frames)
	if n == cap(b.frames) {
		b.frames = slices.Grow(b.frames, n+8)
	}
	b.frames = b.frames[:n+1]
	return &b.frames[n]
}

// note records the start of the next value of the innermost container, and its key.
func (b *Builder) note(key int32) {
	b.fields = append(b.fields, field(uint64(key)<<32|uint64(len(b.buf)-b.data)))
}

// grow makes room for n more bytes.
func (b *Builder) grow(n int) {
	if cap(b.buf)-len(b.buf) < n {
		b.enlarge(n)
	}
}

func (b *Builder) enlarge(n int) {
	buf := make([]byte, len(b.buf), 2*cap(b.buf)+n+256)
	copy(buf, b.buf)
	b.buf = buf
}

// Key names the next field of an object. A name that is not UTF-8 is an error that Is
// ErrText, one that the object has an error that Is ErrDuplicateKey.
func (b *Builder) Key(name []byte) {
	if b.state != stateKey {
		b.fail(fmt.Errorf("%w: a key where none may come", ErrUsage))
		return
	}
	s := b.top.shape
	if s != nil {
		guess := s.next
		if s == b.tree.root {
			guess = b.top.at.first
		} else if guess == nil {
			guess = s.guessName(name)
		}
		if guess != nil && string(guess.name) == string(name) {
			b.field(guess.key, guess)
			b.state = stateValue
			return
		}
	}
	b.keyText(s, name)
}

// keyText is Key without a prediction.
func (b *Builder) keyText(s *objectShape, name []byte) {
	known := len(b.tree.keys)
	k := b.tree.intern(name)
	if len(b.tree.keys) != known {
		k.bad = !utf8.Valid(name)
	}
	if k.bad {
		b.fail(fmt.Errorf("variant: %w: name %.100q", ErrText, name))
		return
	}
	b.advance(s, k)
}

// knownKey is Key with a name that was interned since the last Reset, where a key may
// come.
func (b *Builder) knownKey(k *key) { b.advance(b.top.shape, k) }

// advance adds the key to an object of shape s.
func (b *Builder) advance(s *objectShape, k *key) {
	s, dup := b.tree.advance(s, k, len(b.frames))
	if dup {
		b.fail(fmt.Errorf("variant: %w %.100q", ErrDuplicateKey, k.name))
		return
	}
	if s != nil && s.n == 1 {
		b.top.at.first = s
	}
	b.field(k, s)
	b.state = stateValue
}

// field notes the start of an object's next field; s is the shape after it.
func (b *Builder) field(k *key, s *objectShape) {
	b.top.shape = s
	b.note(k.index)
}

// End closes the container that was opened last.
func (b *Builder) End() {
	if b.state != stateKey && b.state != stateElement {
		b.fail(fmt.Errorf("%w: End where none may come", ErrUsage))
		return
	}
	b.close()
	switch {
	case b.err != nil || len(b.frames) == 1:
		b.state = stateDone
	case b.top.object:
		b.state = stateKey
	default:
		b.state = stateElement
	}
}

// Scalar adds a value that is no container. A number outside its kind and a decimal
// of more than 38 digits or scale are errors that are ErrRange, text that is not
// UTF-8 is one that Is ErrText.
func (b *Builder) Scalar(s *Scalar) {
	if b.place() {
		b.putScalar(s)
	}
}

// Value returns the value, whose bytes stay the builder's until the next Reset.
// Incomplete values are errors that are ErrUsage.
func (b *Builder) Value() (Value, error) {
	if b.err == nil && b.done == nil {
		b.finish()
	}
	if b.err != nil {
		return Value{}, b.err
	}
	return Value{b.done.meta, b.buf[b.head:]}, nil
}

func (b *Builder) finish() {
	if len(b.frames) > 1 || b.state != stateDone {
		b.fail(fmt.Errorf("%w: the value is incomplete", ErrUsage))
		return
	}
	if b.dict != nil {
		b.done = b.dict
	} else {
		b.resolve()
	}
	if size := len(b.buf) - b.head; size > b.maxSize {
		b.fail(fmt.Errorf("variant: %w: %d bytes", ErrTooLarge, size))
	}
}
