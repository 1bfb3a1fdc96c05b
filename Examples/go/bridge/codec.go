package bridge

import (
	"fmt"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v3"

	pb "sidelight.example/go/sidelightv1"
)

// Frame is a picture of a track, as it is encoded: a frame of VP8, or an access unit of H.264 in the
// byte stream format of Annex B.
type Frame struct {
	Data []byte
	// Timestamp is the RTP timestamp.
	Timestamp uint32
	// IsKeyFrame is whether decoding can start with the frame.
	IsKeyFrame bool
}

// NewFrame returns a frame of a codec with a MIME type, without a timestamp.
func NewFrame(mimeType string, data []byte) (*Frame, error) {
	codec, err := newCodec(mimeType)
	if err != nil {
		return nil, err
	}
	return &Frame{Data: data, IsKeyFrame: codec.isKeyFrame(data)}, nil
}

// codec is a format of video, in RTP and at the server.
type codec struct {
	format          pb.PixelFormat
	newPayloader    func() rtp.Payloader
	newDepacketizer func() rtp.Depacketizer
	isKeyFrame      func([]byte) bool
}

var supported = map[string]*codec{
	webrtc.MimeTypeVP8: {
		format:          pb.PixelFormat_PIXEL_FORMAT_VP8,
		newPayloader:    func() rtp.Payloader { return &codecs.VP8Payloader{EnablePictureID: true} },
		newDepacketizer: func() rtp.Depacketizer { return &codecs.VP8Packet{} },
		isKeyFrame:      func(frame []byte) bool { return len(frame) > 0 && frame[0]&1 == 0 },
	},
	webrtc.MimeTypeH264: {
		format:          pb.PixelFormat_PIXEL_FORMAT_H264,
		newPayloader:    func() rtp.Payloader { return &codecs.H264Payloader{} },
		newDepacketizer: func() rtp.Depacketizer { return &codecs.H264Packet{} },
		isKeyFrame:      hasKeySlice,
	},
}

// newCodec returns the codec with a MIME type of WebRTC.
func newCodec(mimeType string) (*codec, error) {
	if codec := supported[mimeType]; codec != nil {
		return codec, nil
	}
	return nil, fmt.Errorf("the codec of the track is %q; it must be %q or %q", mimeType,
		webrtc.MimeTypeVP8, webrtc.MimeTypeH264)
}

// hasKeySlice returns whether an access unit of H.264 has a slice of a key frame: a NAL unit of
// type 5.
func hasKeySlice(unit []byte) bool {
	for index := 0; index+3 < len(unit); index++ {
		if unit[index] == 0 && unit[index+1] == 0 && unit[index+2] == 1 && unit[index+3]&31 == 5 {
			return true
		}
	}
	return false
}
