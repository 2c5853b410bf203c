module github.com/frazil/frazil/internal/bench

go 1.26.0

require (
	github.com/apache/arrow-go/v18 v18.8.0
	github.com/frazil/frazil v0.0.0-00010101000000-000000000000
	github.com/goccy/go-json v0.12.0
	github.com/parquet-go/parquet-go v0.32.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/google/uuid v1.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20260603202125-055de637280b // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/frazil/frazil => ../..
