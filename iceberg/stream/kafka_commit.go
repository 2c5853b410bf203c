package stream

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type (
	kmsgCommitRequest  = kmsg.OffsetCommitRequest
	kmsgCommitResponse = kmsg.OffsetCommitResponse
)

// commitError finds what is wrong in the answer to an offset commit. A group
// that moved on without us is no error of the query: progress is in the sink
// or the checkpoint, and the next assignment starts from there.
func commitError(resp *kmsgCommitResponse, err error) error {
	if err != nil {
		return ignoreRebalance(err)
	}
	var errs []error
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := ignoreRebalance(kerr.ErrorForCode(p.ErrorCode)); err != nil {
				errs = append(errs, fmt.Errorf("%s[%d]: %w", t.Topic, p.Partition, err))
			}
		}
	}
	return errors.Join(errs...)
}

func ignoreRebalance(err error) error {
	switch {
	case errors.Is(err, kerr.RebalanceInProgress),
		errors.Is(err, kerr.IllegalGeneration),
		errors.Is(err, kerr.UnknownMemberID),
		errors.Is(err, kerr.StaleMemberEpoch),
		errors.Is(err, kerr.FencedInstanceID):
		return nil
	}
	return err
}
