// Package pipeline runs all jobs in one process: an embedded broker unless a
// real one is named, a SQLite catalog and a local warehouse.
//
//	producer --> trade-risk-vectors --> alerts (real time) ------> trade-alerts --> latencies
//	                     |
//	                     +------------> ingest (micro-batches) --> risk.trade_risk_vectors
//	                                                                   |
//	                                       batch (scan, VaR, sums) ----+--> risk.daily_risk_summary
//	                                       corrections <---------------+--> report.html
package pipeline
