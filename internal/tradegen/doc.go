// Package tradegen makes seeded, realistic trade events: the input of the
// trade pipeline and of the benchmarks of every package.
//
// An event is one JSON object of about 0.8 kB. Its pricing_vector has one of
// three shapes, which is what makes the column worth a Variant:
//
//	EQUITY  40 %  BlackScholes  spot, greeks, two scenarios with a breakdown by region and sector
//	RATES   35 %  HullWhite     currency, dv01, convexity, sensitivities for twelve tenors
//	FX      25 %  SABR          pair, spot, greeks, a volatility surface of six tenors
//
// Over many events a pricing vector has 601 bytes, 24 numbers and 35 keys on
// average. Notionals are log-normal: about 2 % lie above 25 million and 0.5 %
// above 50 million. Numbers are written without exponent, trailing zeros
// trimmed down to one digit after the point, as most producers do.
//
// The same seed and options give the same bytes on every machine: nothing
// depends on the clock, on map order or on the platform's float formatting.
package tradegen
