package bridge

import (
	"sync"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v3"

	"sidelight.example/go/vp8"
)

// maxPayload is the maximum size of the payload of an RTP packet, in bytes.
const maxPayload = 1100

// Writer encodes pictures as VP8 and writes them to a local track, with the RTP timestamps that it
// is given. Its methods may be called from any goroutine.
type Writer struct {
	// Track is the track to add to a peer connection.
	Track *webrtc.TrackLocalStaticRTP

	mutex     sync.Mutex
	encoder   *vp8.Encoder
	payloader codecs.VP8Payloader
	number    uint16
	timestamp uint32
	count     int
	needsKey  bool
	isClosed  bool
}

// NewWriter returns a writer with a new track.
func NewWriter(id string, kilobits int) (*Writer, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000}, id, "sidelight")
	if err != nil {
		return nil, err
	}
	writer := &Writer{Track: track, encoder: vp8.NewEncoder(kilobits)}
	writer.payloader.EnablePictureID = true
	return writer, nil
}

// RequestKeyFrame makes the next picture one that can be decoded without earlier ones.
func (w *Writer) RequestKeyFrame() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.needsKey = true
}

// Count returns the number of pictures that were written.
func (w *Writer) Count() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.count
}

// Write encodes and writes a picture. One that is not newer than the last one is ignored, and all
// are after Close.
func (w *Writer) Write(picture *vp8.Picture, timestamp uint32) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.isClosed || w.count > 0 && int32(timestamp-w.timestamp) <= 0 {
		return nil
	}
	frame, err := w.encoder.Encode(picture, w.needsKey)
	if err != nil || frame == nil {
		return err
	}
	w.needsKey = false
	w.timestamp = timestamp
	w.count++
	payloads := w.payloader.Payload(maxPayload, frame)
	for index, payload := range payloads {
		packet := &rtp.Packet{
			Header: rtp.Header{
				Version:        2,
				Marker:         index == len(payloads)-1,
				SequenceNumber: w.number,
				Timestamp:      timestamp,
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

// Close frees the encoder.
func (w *Writer) Close() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.isClosed = true
	w.encoder.Close()
}
