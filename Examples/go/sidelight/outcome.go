package sidelight

import (
	"strings"

	pb "sidelight.example/go/sidelightv1"
)

// Outcome is the outcome of an offered frame: *Returned or *Dropped.
type Outcome interface{ isOutcome() }

// Returned is a frame that came back.
type Returned struct {
	// FilteredFrame has the picture, the disposition and the revision of the pipeline.
	*pb.FilteredFrame
}

// Dropped is one or more consecutive frames that were dropped for the same reason.
type Dropped struct {
	// First and Last are the numbers of the frames, as Offer returned them.
	First, Last uint64
	// RTPTimestamp belongs to the last frame.
	RTPTimestamp uint32
	// Reason is the name of the contract, or of a drop in the client.
	Reason string
	// Err is the error, for invalid frames and failed stages.
	Err *Error
}

func (*Returned) isOutcome() {}
func (*Dropped) isOutcome()  {}

// The reasons of drops in the client.
const (
	// SupersededInClient says that a newer frame replaced the frame before it was sent.
	SupersededInClient = "SUPERSEDED_IN_CLIENT"
	// NotDecodable says that the frame depends on one that was not sent.
	NotDecodable = "NOT_DECODABLE"
	// Disconnected says that the session ended before the outcome arrived.
	Disconnected = "DISCONNECTED"
)

// entry is a frame without an outcome, or an outcome that is not taken.
type entry struct {
	sequence     uint64
	rtpTimestamp uint32
	hasCredit    bool
	outcome      Outcome
}

// outcomeQueue has the outcomes in the order of the frames. A frame has a credit from its sending
// until its outcome is taken. Drops in the client merge with their neighbours, so the queue is
// bounded by the credits.
type outcomeQueue struct {
	entries     []*entry
	capacity    int
	outstanding int
}

func (q *outcomeQueue) hasCredit() bool { return q.outstanding < q.capacity }

func (q *outcomeQueue) isReady() bool { return len(q.entries) > 0 && q.entries[0].outcome != nil }

func (q *outcomeQueue) sent(frame *pb.Frame) {
	q.entries = append(q.entries, &entry{frame.Sequence, frame.RtpTimestamp, true, nil})
	q.outstanding++
}

func (q *outcomeQueue) droppedInClient(frame *pb.Frame, reason string) {
	if count := len(q.entries); count > 0 && !q.entries[count-1].hasCredit {
		if run := q.entries[count-1].outcome.(*Dropped); run.Reason == reason {
			run.Last, run.RTPTimestamp = frame.Sequence, frame.RtpTimestamp
			return
		}
	}
	drop := &Dropped{frame.Sequence, frame.Sequence, frame.RtpTimestamp, reason, nil}
	q.entries = append(q.entries, &entry{frame.Sequence, frame.RtpTimestamp, false, drop})
}

func (q *outcomeQueue) returned(frame *pb.FilteredFrame) {
	for _, each := range q.entries {
		if each.outcome == nil && each.sequence == frame.Sequence {
			each.outcome = &Returned{frame}
		}
	}
}

// dropped ends every frame of a run that the server dropped.
func (q *outcomeQueue) dropped(run *pb.Dropped) {
	var err *Error
	if run.Diagnostic != nil {
		err = fromMessage(run.Diagnostic)
	}
	// The name of a newer server's reason is its number.
	reason := strings.TrimPrefix(run.Reason.String(), "DROP_REASON_")
	q.end(run.FirstSequence, run.LastSequence, reason, err)
}

// disconnect ends every frame that has no outcome.
func (q *outcomeQueue) disconnect(err *Error) { q.end(0, ^uint64(0), Disconnected, err) }

func (q *outcomeQueue) end(first, last uint64, reason string, err *Error) {
	for _, each := range q.entries {
		if each.outcome == nil && first <= each.sequence && each.sequence <= last {
			each.outcome = &Dropped{each.sequence, each.sequence, each.rtpTimestamp, reason, err}
		}
	}
}

// take returns the outcome of the oldest frame, and its credit. It requires isReady.
func (q *outcomeQueue) take() Outcome {
	oldest := q.entries[0]
	q.entries = q.entries[1:]
	if oldest.hasCredit {
		q.outstanding--
	}
	return oldest.outcome
}
