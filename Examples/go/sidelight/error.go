package sidelight

import (
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error is an error of the server or of the connection, with the details of google.rpc.
type Error struct {
	// Code is the code of the status.
	Code codes.Code
	// Message is human-readable.
	Message string
	// Field is the path of the first invalid field, empty if the error is not about a field.
	Field string
	// Value and Limit are empty if only the message contains them.
	Value, Limit string
	// Suggestion is the nearest valid name, if a name is unknown.
	Suggestion string
	// Line and Column are the position in the text of a pipeline, from 1; 0 without a position.
	Line, Column int
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// newError reads the details of the status of a call. It returns nil for OK.
func newError(err error) *Error {
	if err == nil {
		return nil
	}
	return fromStatus(status.Convert(err))
}

// fromMessage reads the details of a status in a message of the contract.
func fromMessage(message *rpc.Status) *Error { return fromStatus(status.FromProto(message)) }

func fromStatus(from *status.Status) *Error {
	result := &Error{Code: from.Code(), Message: from.Message()}
	for _, detail := range from.Details() {
		switch detail := detail.(type) {
		case *errdetails.BadRequest:
			if violations := detail.GetFieldViolations(); len(violations) > 0 {
				result.Field = violations[0].GetField()
			}
		case *errdetails.ErrorInfo:
			metadata := detail.GetMetadata()
			if result.Field == "" {
				result.Field = metadata["field"]
			}
			result.Value, result.Limit = metadata["value"], metadata["limit"]
			result.Suggestion = metadata["suggestion"]
			// A number that is absent or invalid stays 0.
			result.Line, _ = strconv.Atoi(metadata["line"])
			result.Column, _ = strconv.Atoi(metadata["column"])
		}
	}
	return result
}
