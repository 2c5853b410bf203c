package pq

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// Codec is a compression codec for pages.
type Codec uint8

// The codecs. The zero value is the default of a writer. LZ4 is the deprecated
// codec in Hadoop's framing; it and Brotli are read only.
const (
	Zstd Codec = iota
	Uncompressed
	Snappy
	Gzip
	LZ4Raw
	Brotli
	LZ4
)

// String returns the codec's name as the Parquet format spells it.
func (c Codec) String() string {
	switch c {
	case Zstd:
		return "ZSTD"
	case Uncompressed:
		return "UNCOMPRESSED"
	case Snappy:
		return "SNAPPY"
	case Gzip:
		return "GZIP"
	case LZ4Raw:
		return "LZ4_RAW"
	case Brotli:
		return "BROTLI"
	case LZ4:
		return "LZ4"
	}
	return fmt.Sprintf("Codec(%d)", uint8(c))
}

// KeyValue is one entry of a file's key-value metadata.
type KeyValue struct{ Key, Value string }

// WriterOptions configures a Writer. The zero value is the default.
type WriterOptions struct {
	// Codec compresses the pages. Default Zstd.
	Codec Codec
	// Level is the compression level in zstd's own scale, 1 to 22, or gzip's,
	// 1 to 9. Default 1 for zstd, 6 for gzip; other codecs have no levels.
	Level int
	// PageBytes is the target for the uncompressed values of a data page.
	// Default 1 MiB.
	PageBytes int
	// PageRows is the most rows in a data page. Default 20,000.
	PageRows int
	// DictionaryBytes is the most bytes in a dictionary page; a column that
	// needs more is not dictionary encoded. Default 2 MiB; negative means no
	// dictionaries.
	DictionaryBytes int
	// PlainOnly leaves out the delta encodings, for readers that know only
	// plain and dictionary pages.
	PlainOnly bool
	// StatisticsBytes is the length to which minimum and maximum of byte
	// columns are cut in the file. FileMeta holds them uncut. Default 64.
	StatisticsBytes int
	// NoStatistics leaves minimum, maximum and page indexes out of the file
	// and out of FileMeta. Null counts stay.
	NoStatistics bool
	// BloomFilters lists the dotted paths of leaves that get a bloom filter.
	BloomFilters []string
	// BloomFilterBytes is the most bytes in one bloom filter. Default 1 MiB.
	BloomFilterBytes int
	// BloomFilterFPP is, by dotted path, the share of look-ups that a bloom
	// filter may answer wrongly with yes, between 0 and 1, if BloomFilterBytes
	// suffices. Default 0.01.
	BloomFilterFPP map[string]float64
	// BloomFilterNDV is, by dotted path, the number of distinct values in a row
	// group for which the bloom filter is made, if the leaf has more values.
	// Default: a dictionary's entries, or else all values.
	BloomFilterNDV map[string]int
	// CreatedBy names the writing program, as "name version X". Default
	// "frazil version 0".
	CreatedBy string
	// Metadata is the file's key-value metadata.
	Metadata []KeyValue
	// Workers is the number of columns encoded at the same time. Default 1;
	// negative means one per processor.
	Workers int
}

// Validate reports everything that is wrong with o.
func (o WriterOptions) Validate() error {
	var errs []error
	check := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("pq: WriterOptions: "+format, args...))
		}
	}
	check(o.Codec > LZ4Raw, "codec %v cannot be written", o.Codec)
	check(o.Codec == Zstd && (o.Level < 0 || o.Level > 22), "zstd level %d is not 1 to 22", o.Level)
	check(o.Codec == Gzip && (o.Level < 0 || o.Level > 9), "gzip level %d is not 1 to 9", o.Level)
	check(o.PageBytes < 0 || o.PageBytes > 1<<28, "PageBytes %d is not 0 to 256 MiB", o.PageBytes)
	check(o.PageRows < 0 || o.PageRows > 1<<28, "PageRows %d is not 0 to 2^28", o.PageRows)
	check(o.DictionaryBytes > 1<<28, "DictionaryBytes %d is above 256 MiB", o.DictionaryBytes)
	check(o.StatisticsBytes < 0, "StatisticsBytes %d is negative", o.StatisticsBytes)
	check(o.BloomFilterBytes < 0 || o.BloomFilterBytes > 1<<27, "BloomFilterBytes %d is not 0 to 128 MiB", o.BloomFilterBytes)
	for path, fpp := range o.BloomFilterFPP {
		check(!(fpp > 0 && fpp < 1), "BloomFilterFPP %v of %s is not between 0 and 1", fpp, path)
	}
	for path, ndv := range o.BloomFilterNDV {
		check(ndv < 1, "BloomFilterNDV %d of %s is not positive", ndv, path)
	}
	return errors.Join(errs...)
}

// withDefaults returns o with every default in place.
func (o WriterOptions) withDefaults() WriterOptions {
	if o.Level == 0 {
		o.Level = 1
		if o.Codec == Gzip {
			o.Level = 6
		}
	}
	o.PageBytes = orDefault(o.PageBytes, 1<<20)
	o.PageRows = orDefault(o.PageRows, 20_000)
	o.DictionaryBytes = orDefault(o.DictionaryBytes, 2<<20)
	o.StatisticsBytes = orDefault(o.StatisticsBytes, 64)
	o.BloomFilterBytes = orDefault(o.BloomFilterBytes, 1<<20)
	if o.CreatedBy == "" {
		o.CreatedBy = "frazil version 0"
	}
	o.Workers = orDefault(o.Workers, 1)
	if o.Workers < 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

// bloomSpec says what the bloom filter of a leaf is made for.
type bloomSpec struct {
	fpp float64 // share of false positives; 0: there is no filter
	ndv int     // distinct values, 0: not known
}

func (o *WriterOptions) bloomSpec(path string) bloomSpec {
	if !slices.Contains(o.BloomFilters, path) {
		return bloomSpec{}
	}
	s := bloomSpec{fpp: 0.01, ndv: o.BloomFilterNDV[path]}
	if fpp, ok := o.BloomFilterFPP[path]; ok {
		s.fpp = fpp
	}
	return s
}

// ReaderOptions configures Open. The zero value is the default.
type ReaderOptions struct {
	// Name stands for the file in errors.
	Name string
	// FooterHint is how many bytes of the file's end the first request reads.
	// A footer that is longer costs a second request. Default 32 KiB; negative
	// means the smallest read that tells the footer's length.
	FooterHint int
	// ReadAhead is the most bytes of a column chunk that one request reads,
	// unless a single page is larger. Default 4 MiB.
	ReadAhead int
	// MaxFooterBytes refuses larger footers. Default 64 MiB.
	MaxFooterBytes int
	// MaxPageBytes refuses pages that are larger before or after compression.
	// Default 256 MiB.
	MaxPageBytes int
	// SkipChecksums leaves the pages' checksums unverified.
	SkipChecksums bool
}

func (o ReaderOptions) withDefaults() ReaderOptions {
	o.FooterHint = max(orDefault(o.FooterHint, 32<<10), footerTail)
	o.ReadAhead = max(orDefault(o.ReadAhead, 4<<20), 1)
	o.MaxFooterBytes = orDefault(o.MaxFooterBytes, 64<<20)
	o.MaxPageBytes = orDefault(o.MaxPageBytes, 256<<20)
	return o
}

// maxPageHeader bounds a page's header. A long one holds statistics, in which some
// writers put whole values of the page, up to four.
func (o *ReaderOptions) maxPageHeader() int64 { return 1<<20 + 4*int64(o.MaxPageBytes) }

func orDefault(v, def int) int {
	if v == 0 {
		return def
	}
	return v
}
