package bridge

import (
	"bytes"
	"testing"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v3"
)

// dataSize is the number of bytes in a packet, besides the descriptor of VP8.
const dataSize = 3

// packets returns the packets of frames that have some packets each. The payload of a packet is its
// number; the first number is near the end of the range.
func packets(sizes ...int) []*rtp.Packet {
	var result []*rtp.Packet
	number := uint16(65500)
	for frame, size := range sizes {
		for index := 0; index < size; index++ {
			// The descriptor of VP8: the S bit marks the start of a frame.
			descriptor := byte(0)
			if index == 0 {
				descriptor = 0x10
			}
			result = append(result, &rtp.Packet{
				Header: rtp.Header{
					SequenceNumber: number, Timestamp: uint32(frame), Marker: index == size-1,
				},
				Payload: []byte{descriptor, byte(number), 0, 0},
			})
			number++
		}
	}
	return result
}

// assemble returns the frames that packets result in.
func assemble(packets []*rtp.Packet) []*assembledFrame {
	assembler := newAssembler(supported[webrtc.MimeTypeVP8])
	var result []*assembledFrame
	for _, packet := range packets {
		assembler.push(packet)
		for frame := assembler.pop(); frame != nil; frame = assembler.pop() {
			result = append(result, frame)
		}
	}
	return result
}

func TestAFrameIsCompleteWithItsLastPacket(t *testing.T) {
	assembler := newAssembler(supported[webrtc.MimeTypeVP8])
	for index, packet := range packets(3, 1, 2) {
		assembler.push(packet)
		frame := assembler.pop()
		if (frame != nil) != packet.Marker {
			t.Fatalf("packet %d: the frame is %v", index, frame)
		}
		if frame != nil && (frame.Timestamp != packet.Timestamp || frame.followsLoss) {
			t.Fatalf("packet %d: the frame is %+v", index, frame)
		}
	}
}

func TestPacketsAreOrderedAndRepeatedOnesIgnored(t *testing.T) {
	sent := packets(2, 30, 12)
	shuffled := append([]*rtp.Packet{}, sent...)
	// The first packet defines the start; every later pair is swapped.
	for index := 1; index+1 < len(shuffled); index += 2 {
		shuffled[index], shuffled[index+1] = shuffled[index+1], shuffled[index]
	}
	frames := assemble(append(shuffled, sent...))
	if len(frames) != 3 {
		t.Fatalf("%d frames", len(frames))
	}
	number := byte(65500 & 0xff)
	for _, frame := range frames {
		for index := 0; index < len(frame.Data); index += dataSize {
			if frame.Data[index] != number {
				t.Fatalf("packet %d instead of %d", frame.Data[index], number)
			}
			number++
		}
	}
	if last := sent[len(sent)-1].SequenceNumber; number != byte(last+1) {
		t.Fatalf("the packets before %d instead of %d", number, byte(last+1))
	}
}

func TestALossEndsOnlyItsFrames(t *testing.T) {
	sizes := make([]int, 100)
	for index := range sizes {
		sizes[index] = 3
	}
	sent := packets(sizes...)
	// The middle of frame 10 is lost.
	frames := assemble(append(append([]*rtp.Packet{}, sent[:31]...), sent[32:]...))
	seen := map[uint32]bool{}
	losses := 0
	for _, frame := range frames {
		seen[frame.Timestamp] = true
		if frame.followsLoss {
			losses++
		}
		if len(frame.Data) != 3*dataSize {
			t.Fatalf("frame %d has %d bytes", frame.Timestamp, len(frame.Data))
		}
	}
	if seen[10] || len(seen) != 99 || losses != 1 {
		t.Fatalf("%d frames, %d losses, frame 10: %v", len(seen), losses, seen[10])
	}
}

func TestALongFrameIsNoLoss(t *testing.T) {
	const size = 3 * maxLatePackets
	frames := assemble(packets(size, 1))
	if len(frames) != 2 || frames[0].followsLoss || len(frames[0].Data) != size*dataSize {
		t.Fatalf("%d frames", len(frames))
	}
}

func TestAFrameWithoutAnEndIsLost(t *testing.T) {
	endless := packets(maxPackets + 1)
	endless[maxPackets].Marker = false
	assembler := newAssembler(supported[webrtc.MimeTypeVP8])
	for _, packet := range endless {
		assembler.push(packet)
		if len(assembler.packets) > maxPackets {
			t.Fatalf("%d packets wait", len(assembler.packets))
		}
	}
	if !assembler.hasLoss {
		t.Fatal("no loss")
	}
}

func TestAccessUnitsOfH264AreJoinedAndKeyFramesKnown(t *testing.T) {
	codec := supported[webrtc.MimeTypeH264]
	large := append([]byte{0, 0, 0, 1, 0x65}, bytes.Repeat([]byte{0x80}, 3*maxPayload)...)
	sets := []byte{0, 0, 0, 1, 0x67, 1, 2, 3, 0, 0, 0, 1, 0x68, 4, 5}
	delta := []byte{0, 0, 0, 1, 0x41, 6, 7, 8}
	key := append(append([]byte{}, sets...), large...)
	payloader := codec.newPayloader()
	assembler := newAssembler(codec)
	number := uint16(0)
	var frames []*assembledFrame
	for timestamp, unit := range [][]byte{key, delta, key} {
		payloads := payloader.Payload(maxPayload, unit)
		for index, payload := range payloads {
			assembler.push(&rtp.Packet{
				Header: rtp.Header{
					SequenceNumber: number, Timestamp: uint32(timestamp),
					Marker: index == len(payloads)-1,
				},
				Payload: payload,
			})
			number++
		}
		for frame := assembler.pop(); frame != nil; frame = assembler.pop() {
			frames = append(frames, frame)
		}
	}
	if len(frames) != 3 {
		t.Fatalf("%d frames", len(frames))
	}
	for index, unit := range [][]byte{key, delta, key} {
		if frame := frames[index]; !bytes.Equal(frame.Data, unit) || frame.IsKeyFrame != (index != 1) {
			t.Fatalf("frame %d: key frame %v, %d bytes", index, frame.IsKeyFrame, len(frame.Data))
		}
	}
}

func TestATrackOfAnotherCodecIsRefused(t *testing.T) {
	if _, err := NewWriter("track", webrtc.MimeTypeAV1); err == nil {
		t.Fatal("no error")
	}
}
