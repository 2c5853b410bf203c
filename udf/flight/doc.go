// Package flight serves the functions of package udf over Arrow Flight, for
// clients that call them across a network or from another language. It is apart
// from udf so that who does not serve does not compile gRPC.
//
// # Protocol
//
// A client calls DoExchange. The descriptor of its first message names the
// function, as the one element of its path or as its command; schema and batches
// follow. The server answers with the schema of the results and the batches, in
// order, while the client still sends. ListFlights lists the functions.
//
//	pyarrow:  writer, reader = client.do_exchange(FlightDescriptor.for_path("var99"))
//	          writer.begin(table.schema); writer.write_table(table); writer.done_writing()
//	          result = reader.read_all()
//
// Errors have the codes NotFound (no such function), InvalidArgument (broken
// stream, wrong columns), Canceled, and Internal (the function failed).
//
// # Security
//
// The server listens on the loopback address unless told otherwise, and logs
// where. It has no authentication and no encryption of its own: give it the
// credentials and interceptors of gRPC by [Options.GRPC] before you bind another
// address.
package flight
