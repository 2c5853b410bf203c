// Package lint holds the rules of this repository that a test can check: which
// package may import which, which folder owns each outside library, that the
// map in ARCHITECTURE.md is complete, that claims in README.md are linked to
// tests, that files and functions stay short, and that the exported API changes
// only on purpose. It has no code outside its tests.
package lint
