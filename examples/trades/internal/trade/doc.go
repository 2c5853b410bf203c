// Package trade knows what a trade event looks like and where it is kept: the
// JSON of the topic, its checks, and the tables of the pipeline. All jobs share
// it, so that no two of them disagree about which event is a good one.
package trade
