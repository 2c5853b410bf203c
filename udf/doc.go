// Package udf runs vectorized functions over Apache Arrow batches: functions
// that see whole columns, on many cores, with the order of the stream kept, what
// each function costs measured, and the same functions served to other engines.
//
// # Kinds of functions
//
//	scalar      rows -> as many values    Scalar1 .. Scalar4, NewScalar; With adds the column
//	table       batch -> any rows         Table
//	iterator    stream -> stream          Iterator: state from batch to batch
//	aggregate   groups -> one row each    GroupBy with Sum, Min, Max, Count, NewAggregate
//
// The slice constructors take Go functions over slices: a column of numbers is
// the slice's own memory, nothing is boxed, and a null policy ([Nulls]) says what
// becomes of nulls. [NewScalar] takes a function over Arrow arrays, for nested
// types; a Variant column is its storage, a struct of metadata and value.
//
// # How a plan runs
//
//	         +- worker 1: f, g -+             +- worker 1: part of h -+
//	stream --+- worker 2: f, g -+-- in order -+- worker 2: part of h -+-- merged in order -- result
//	         +- worker n: f, g -+             +- worker n: part of h -+
//
// A [Plan] binds stages to the schema of a stream, so that a wrong column is an
// error before any row flows. Stages that need one batch are fused and run on
// workers; an iterator runs in one goroutine; GroupBy aggregates each batch on a
// worker and merges in the order of the stream. Results therefore never depend
// on the number of workers, sums of floating-point numbers included.
//
// # Lifetimes
//
// A batch in a stream belongs to who receives it, who releases it. Functions do
// not own their arguments. What a slice function sees is valid during the call.
//
// # Errors
//
// Every error of a run is an [*Error] that names the function and the batch. A
// panic in a function becomes one, and Is [ErrPanic]. When the context ends, the
// run ends within the batch: slice functions see 1,024 rows at a time, others
// look at [Call.Context].
//
// # Reading order
//
// scalar.go and slicer.go (functions), value.go (Go types and columns), stage.go
// and plan.go (streams), order.go (workers), aggregate.go and group.go (groups),
// profile.go and pprof.go (costs), serve.go (Arrow IPC; Flight is in udf/flight).
package udf
