package bridge

import (
	"sync"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v3"
)

// maxPayload is the maximum size of the payload of an RTP packet, in bytes.
const maxPayload = 1100

// Writer writes frames to a local track, with the RTP timestamps that they have. Its methods may be
// called from any goroutine.
type Writer struct {
	// Track is the track to add to a peer connection.
	Track *webrtc.TrackLocalStaticRTP

	mutex     sync.Mutex
	codec     *codec
	payloader rtp.Payloader
	number    uint16
	timestamp uint32
	count     int
	isClosed  bool
}

// NewWriter returns a writer with a new track, whose codec has the MIME type.
func NewWriter(id, mimeType string) (*Writer, error) {
	codec, err := newCodec(mimeType)
	if err != nil {
		return nil, err
	}
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: mimeType, ClockRate: 90000}, id, "sidelight")
	if err != nil {
		return nil, err
	}
	return &Writer{Track: track, codec: codec, payloader: codec.newPayloader()}, nil
}

// Count returns the number of frames that were written.
func (w *Writer) Count() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.count
}

// Write writes a frame. One that is not newer than the last one is ignored, and all are after
// Close.
func (w *Writer) Write(frame *Frame) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.isClosed || w.count > 0 && int32(frame.Timestamp-w.timestamp) <= 0 {
		return nil
	}
	w.timestamp = frame.Timestamp
	w.count++
	payloads := w.payloader.Payload(maxPayload, frame.Data)
	for index, payload := range payloads {
		packet := &rtp.Packet{
			Header: rtp.Header{
				Version:        2,
				Marker:         index == len(payloads)-1,
				SequenceNumber: w.number,
				Timestamp:      frame.Timestamp,
			},
			Payload: payload,
		}
		w.number++
		if err := w.Track.WriteRTP(packet); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the track.
func (w *Writer) Close() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.isClosed = true
}
