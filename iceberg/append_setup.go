package iceberg

import (
	"context"
	"runtime"
	"strconv"
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
	if a.pqOptions, err = parquetOptions(props, schema); err != nil {
		return err
	}
	// One worker shreds while the row group before is encoded by the others.
	a.pqOptions.Workers = max(1, a.opts.Workers-1)
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
		o.RowGroupBytes = props.GetInt64(propRowGroupBytes, defaultRowGroup)
	}
	if o.RowGroupBytes <= 0 {
		o.RowGroupBytes = defaultRowGroup
	}
	o.RowGroupBytes = min(o.RowGroupBytes, maxRowGroup)
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

// parquetOptions honours the table's codec, sizes of pages and bloom filters.
func parquetOptions(props ice.Properties, schema *ice.Schema) (pq.WriterOptions, error) {
	o := pq.WriterOptions{
		CreatedBy:        "frazil version 0",
		PageBytes:        props.GetInt(propPageBytes, 0),
		PageRows:         props.GetInt(propPageRows, 0),
		DictionaryBytes:  props.GetInt(propDictionaryBytes, 0),
		BloomFilterBytes: props.GetInt(propBloomBytes, 0),
	}
	if err := bloomFilters(&o, props, schema); err != nil {
		return o, err
	}
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
		return o, invalidf("properties write.parquet.* of the table: %v", err)
	}
	return o, nil
}

// bloomFilters sets the Parquet paths of the columns that get a bloom filter, their
// shares of false positives and numbers of distinct values. A property names a column
// as Iceberg does, such as l.element, or, to reach a leaf of a shredded Variant, by
// its path in the file: v.typed_value.id.typed_value.
func bloomFilters(o *pq.WriterOptions, props ice.Properties, schema *ice.Schema) error {
	named := map[string]string{}
	for _, f := range schema.Fields() {
		leafPaths(named, f.Name, f.Name, f.Type)
	}
	o.BloomFilterFPP, o.BloomFilterNDV = map[string]float64{}, map[string]int{}
	for p := range props {
		name, ok := strings.CutPrefix(p, propBloomColumn)
		if !ok || !props.GetBool(p, false) {
			continue
		}
		path, ok := named[name]
		if !ok {
			path = name
		}
		o.BloomFilters = append(o.BloomFilters, path)
		if text, ok := props[propBloomFPP+name]; ok {
			fpp, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return invalidf("property %s%s of the table: %q is no number", propBloomFPP, name, text)
			}
			o.BloomFilterFPP[path] = fpp
		}
		if text, ok := props[propBloomNDV+name]; ok {
			ndv, err := strconv.Atoi(text)
			if err != nil {
				return invalidf("property %s%s of the table: %q is no whole number", propBloomNDV, name, text)
			}
			o.BloomFilterNDV[path] = ndv
		}
	}
	return nil
}

// leafPaths maps the names of all columns in t to their paths in a Parquet file.
func leafPaths(named map[string]string, name, path string, t ice.Type) {
	switch t := t.(type) {
	case *ice.StructType:
		for _, f := range t.FieldList {
			leafPaths(named, name+"."+f.Name, path+"."+f.Name, f.Type)
		}
	case *ice.ListType:
		leafPaths(named, name+".element", path+".list.element", t.Element)
	case *ice.MapType:
		leafPaths(named, name+".key", path+".key_value.key", t.KeyType)
		leafPaths(named, name+".value", path+".key_value.value", t.ValueType)
	default:
		named[name] = path
	}
}
