package bridge

import (
	"testing"

	"github.com/pion/rtp"
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
func assemble(packets []*rtp.Packet) []*encodedFrame {
	assembler := newAssembler()
	var result []*encodedFrame
	for _, packet := range packets {
		assembler.push(packet)
		for frame := assembler.pop(); frame != nil; frame = assembler.pop() {
			result = append(result, frame)
		}
	}
	return result
}

func TestAFrameIsCompleteWithItsLastPacket(t *testing.T) {
	assembler := newAssembler()
	for index, packet := range packets(3, 1, 2) {
		assembler.push(packet)
		frame := assembler.pop()
		if (frame != nil) != packet.Marker {
			t.Fatalf("packet %d: the frame is %v", index, frame)
		}
		if frame != nil && (frame.timestamp != packet.Timestamp || frame.followsLoss) {
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
		for index := 0; index < len(frame.data); index += dataSize {
			if frame.data[index] != number {
				t.Fatalf("packet %d instead of %d", frame.data[index], number)
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
		seen[frame.timestamp] = true
		if frame.followsLoss {
			losses++
		}
		if len(frame.data) != 3*dataSize {
			t.Fatalf("frame %d has %d bytes", frame.timestamp, len(frame.data))
		}
	}
	if seen[10] || len(seen) != 99 || losses != 1 {
		t.Fatalf("%d frames, %d losses, frame 10: %v", len(seen), losses, seen[10])
	}
}

func TestALongFrameIsNoLoss(t *testing.T) {
	const size = 3 * maxLatePackets
	frames := assemble(packets(size, 1))
	if len(frames) != 2 || frames[0].followsLoss || len(frames[0].data) != size*dataSize {
		t.Fatalf("%d frames", len(frames))
	}
}

func TestAFrameWithoutAnEndIsLost(t *testing.T) {
	endless := packets(maxPackets + 1)
	endless[maxPackets].Marker = false
	assembler := newAssembler()
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
