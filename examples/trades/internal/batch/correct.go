package batch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/frazil/frazil/iceberg"
)

// AmendedWeight is the risk weight that the correction gives to a trade.
const AmendedWeight = 1.25

// Corrections says what was corrected and how the table looks afterwards.
type Corrections struct {
	Amended   string // trade id
	Cancelled string
	RowsAfter int64
	Vectors   []iceberg.VectorInfo
}

// Correct amends one trade and cancels another, both merge-on-read, and reads
// the table back to see that nothing else has changed. rows is the number of
// rows before.
func Correct(ctx context.Context, t *iceberg.Table, amend, cancel string, rows int64) (*Corrections, error) {
	if amend == "" || cancel == "" || amend == cancel {
		return nil, errors.New("batch: corrections need two trades")
	}
	set, err := iceberg.ParseSet(fmt.Sprintf("risk_weight = %v", AmendedWeight))
	if err != nil {
		return nil, err
	}
	amended, err := byID(amend)
	if err != nil {
		return nil, err
	}
	changed, err := t.Update(ctx, []iceberg.Assignment{set}, amended, iceberg.WriteOptions{})
	if err != nil {
		return nil, fmt.Errorf("batch: amend %s: %w", amend, err)
	}
	if changed.Updated != 1 {
		return nil, fmt.Errorf("batch: amend %s: %d rows updated instead of one", amend, changed.Updated)
	}
	dropped := int64(len(changed.Dropped))
	cancelled, err := byID(cancel)
	if err != nil {
		return nil, err
	}
	changed, err = t.Delete(ctx, cancelled, iceberg.WriteOptions{})
	if err != nil {
		return nil, fmt.Errorf("batch: cancel %s: %w", cancel, err)
	}
	if changed.Deleted != 1 {
		return nil, fmt.Errorf("batch: cancel %s: %d rows deleted instead of one", cancel, changed.Deleted)
	}
	c := &Corrections{Amended: amend, Cancelled: cancel}
	// A data file that loses its only row goes as a whole, without a vector.
	return c, c.check(ctx, t, rows, 2-dropped-int64(len(changed.Dropped)))
}

func byID(id string) (iceberg.Expr, error) {
	return iceberg.ParseWhere("trade_id = '" + strings.ReplaceAll(id, "'", "''") + "'")
}

// check reads the table back; marked is how many rows the vectors must mark at
// least.
func (c *Corrections) check(ctx context.Context, t *iceberg.Table, rows, marked int64) error {
	seen, err := weights(ctx, t, c)
	if err != nil {
		return err
	}
	c.RowsAfter = seen.rows
	switch {
	case seen.rows != rows-1:
		return fmt.Errorf("batch: %d rows after the corrections, %d before", seen.rows, rows)
	case seen.cancelled != 0:
		return fmt.Errorf("batch: trade %s is still there", c.Cancelled)
	case len(seen.amended) != 1 || seen.amended[0] != AmendedWeight:
		return fmt.Errorf("batch: trade %s has the weights %v", c.Amended, seen.amended)
	}
	in, err := t.Inspect(ctx)
	if err != nil {
		return err
	}
	c.Vectors = in.DeletionVectors
	var found int64
	for _, v := range c.Vectors {
		found += v.Cardinality
	}
	if found < marked {
		return fmt.Errorf("batch: the deletion vectors mark %d rows instead of %d", found, marked)
	}
	return nil
}

type sighting struct {
	rows      int64
	amended   []float64
	cancelled int
}

// weights scans all rows and looks for the corrected trades.
func weights(ctx context.Context, t *iceberg.Table, c *Corrections) (sighting, error) {
	var s sighting
	scan, err := t.Scan(ctx, iceberg.ScanOptions{Columns: []string{"trade_id", "risk_weight"}, Unordered: true})
	if err != nil {
		return s, err
	}
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return s, err
		}
		ids, weight := batch.Column(0).(*array.String), batch.Column(1).(*array.Float64)
		s.rows += batch.NumRows()
		for i := range ids.Len() {
			switch ids.Value(i) {
			case c.Amended:
				s.amended = append(s.amended, weight.Value(i))
			case c.Cancelled:
				s.cancelled++
			}
		}
		batch.Release()
	}
	return s, nil
}
