// Package stream runs streaming queries: a source of records, a stateless
// transform, a sink, a trigger and a checkpoint.
//
//	source --Poll--> transform --Emit--> sink          records
//	   ^                 |                 |
//	   |                 v                 v
//	   |            dead letters       output + offsets   at the end of an epoch:
//	   |                                   |              1 dead letters
//	   |                                   v              2 the sink's commit
//	   +---- Commit <---- DIR/checkpoint.json             3 checkpoint, 4 source
//
// # Terms
//
// A partition is an ordered log of the source; an offset is a place in it. An
// epoch is a range of offsets of some partitions whose output a sink makes
// durable together. A trigger says when an epoch ends: RealTime lets records
// flow at once and saves progress at an interval, ProcessingTime cuts
// micro-batches, AvailableNow drains the source and ends the query. Memory is
// bounded because an epoch also ends when it is large.
//
// # Delivery
//
// What a record is worth depends on where the offsets are kept:
//
//	IcebergSink                       exactly once: offsets in the snapshot that holds the rows
//	KafkaSink with TransactionalID    exactly once: offsets in the transaction, to the source's group
//	KafkaSink, CallbackSink           at least once: checkpoint and group, after the output
//
// Recovery is one path for all of them and for every trigger (Assigned in
// assign.go): the sink's own offsets, else the newest of checkpoint and group,
// else the beginning. A rebalance, a lost race with another process and a
// restart after a crash all go through it.
//
// # Offsets in a table
//
// A table keeps the progress of a query under the key "frazil.stream.NAME",
// as an entry of the summary of each snapshot that the query makes, and as a
// table property set in the same commit:
//
//	{"id":"..","commit":"..","epoch":12,"offsets":{"topic":{"0":1500,"1":1498}}}
//
// All partitions are carried forward each time, so the newest entry tells all.
// A commit is applied only to a version of the table whose offsets are those at
// which the epoch began. That fences a process that has lost its partitions
// without knowing, recognises a commit whose answer was lost, and makes a
// rolled back table go on from what it contains. state.go has the rules.
//
// # Bad records
//
// A record that the transform or the sink refuses goes to the dead letters with
// its reason and is counted; the query goes on. A panic is a bug and ends the
// query with an error that names the record.
//
// # Reading order
//
// contract.go, query.go, engine.go, assign.go; then the sources and sinks.
package stream
