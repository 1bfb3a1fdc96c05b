package sidelight

import (
	"context"

	pb "sidelight.example/go/sidelightv1"
)

// answer is the server's answer to a change of the pipeline.
type answer struct {
	hasArrived bool
	revision   uint64
	err        *Error
}

// Select replaces the pipeline by its text, and returns its revision. An *Error has the position
// and a suggestion if the text is invalid; the pipeline in force then stays.
func (s *Session) Select(ctx context.Context, pipeline string) (uint64, error) {
	return s.change(ctx, func(id uint64) *pb.ClientMessage {
		change := &pb.Select{
			PipelineSource: &pb.Select_PipelineText{PipelineText: pipeline}, RequestId: id,
		}
		return &pb.ClientMessage{Kind: &pb.ClientMessage_Select{Select: change}}
	})
}

// Update sets a number of a stage, by the ID or position of the stage (`stages[0]`), and returns
// the revision.
func (s *Session) Update(
	ctx context.Context, stage, parameter string, number float64,
) (uint64, error) {
	return s.change(ctx, func(id uint64) *pb.ClientMessage {
		value := &pb.ParameterValue{Kind: &pb.ParameterValue_Number{Number: number}}
		change := &pb.Update{RequestId: id, Stages: []*pb.Update_StageParameters{{
			Stage: stage, Parameters: map[string]*pb.ParameterValue{parameter: value},
		}}}
		return &pb.ClientMessage{Kind: &pb.ClientMessage_Update{Update: change}}
	})
}

// SetBitRate sets the bit rate of the output's encoder in bits per second. Frames that pass through
// unchanged keep the rate of their sender.
func (s *Session) SetBitRate(ctx context.Context, bitRate uint32) error {
	_, err := s.change(ctx, func(id uint64) *pb.ClientMessage {
		change := &pb.SetEncoder{BitRate: bitRate, RequestId: id}
		return &pb.ClientMessage{Kind: &pb.ClientMessage_SetEncoder{SetEncoder: change}}
	})
	return err
}

// change writes a change, and waits for its answer.
func (s *Session) change(
	ctx context.Context, message func(requestID uint64) *pb.ClientMessage,
) (uint64, error) {
	reply := &answer{}
	s.mutex.Lock()
	s.requestID++
	requestID := s.requestID
	s.answers[requestID] = reply
	s.mutex.Unlock()
	err := s.post(ctx, message(requestID))
	if err == nil {
		err = s.wait(ctx, func() bool { return reply.hasArrived || s.hasEnded })
		s.mutex.Unlock()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.answers, requestID)
	switch {
	case err != nil:
		return 0, err
	case reply.err != nil:
		return 0, reply.err
	case !reply.hasArrived:
		return 0, s.endedError()
	}
	return reply.revision, nil
}
