package iceberg

import (
	"context"
	"runtime"
	"strings"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/frazil/frazil/internal/pq"
)

// prepare fixes what an append takes from the table: columns, partition spec,
// properties and places. It fails for what could not be written later.
func (a *Appender) prepare(ctx context.Context, tbl *table.Table) error {
	props, schema := tbl.Properties(), tbl.Schema()
	a.fields = schema.Fields()
	if a.opts.lineage {
		a.fields = append(a.fields, lineageFields()...)
	}
	names := make([]string, len(a.fields))
	for i, f := range a.fields {
		names[i] = f.Name
		if isVariant(f.Type) {
			a.variants++
		}
	}
	a.whole = len(a.fields) == 1 && a.variants == 1 && !a.opts.ByName
	a.shredding = a.variants > 0 && !a.opts.Unshredded && props.GetBool(propShredVariants, false)
	a.scanner = newRowScanner(names, a.parse)
	a.setDefaults(props)
	var err error
	if a.metrics, err = metricsModes(props, a.fields); err != nil {
		return err
	}
	if a.pqOptions, err = parquetOptions(props); err != nil {
		return err
	}
	a.spec = tbl.Spec()
	if a.partitioner, err = newPartitioner(a.spec, schema); err != nil {
		return err
	}
	if a.locations, err = tbl.LocationProvider(); err != nil {
		return err
	}
	fs, err := tbl.FS(ctx)
	if err != nil {
		return err
	}
	var ok bool
	if a.fs, ok = fs.(iceio.WriteFileIO); !ok {
		return table.ErrWriteIORequired
	}
	// A layout that cannot be written is found before the first row.
	return (&dataFile{a: a, p: &part{}}).open(nil)
}

func (a *Appender) setDefaults(props ice.Properties) {
	o := &a.opts
	if o.TargetFileBytes <= 0 {
		o.TargetFileBytes = props.GetInt64(propTargetFileBytes, defaultTargetFile)
	}
	if o.RowGroupBytes <= 0 {
		o.RowGroupBytes = min(defaultRowGroup, props.GetInt64(propRowGroupBytes, defaultRowGroup))
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = defaultMemory
	}
	if o.SampleRows <= 0 {
		o.SampleRows = max(1, props.GetInt(propInferenceBuffer, defaultSample))
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
}

// parquetOptions honours the table's codec.
func parquetOptions(props ice.Properties) (pq.WriterOptions, error) {
	o := pq.WriterOptions{CreatedBy: "frazil version 0"}
	level := props.GetInt(propCodecLevel, 0)
	switch codec := strings.ToLower(props.Get(propCodec, "zstd")); codec {
	case "zstd":
		o.Codec, o.Level = pq.Zstd, level
	case "uncompressed", "none":
		o.Codec = pq.Uncompressed
	case "snappy":
		o.Codec = pq.Snappy
	case "gzip":
		o.Codec, o.Level = pq.Gzip, level
	case "lz4_raw", "lz4":
		o.Codec = pq.LZ4Raw
	default:
		return o, unsupportedf("writing with codec %q", codec)
	}
	if err := o.Validate(); err != nil {
		return o, invalidf("%s: %v", propCodecLevel, err)
	}
	return o, nil
}
