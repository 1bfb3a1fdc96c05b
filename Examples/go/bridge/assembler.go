package bridge

import (
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
)

const (
	// maxLatePackets is the number of later packets after which a missing one counts as lost.
	maxLatePackets = 128
	// maxPackets is the maximum number of packets of a frame: about 2 MB.
	maxPackets = 2048
)

// encodedFrame is a frame as it was encoded.
type encodedFrame struct {
	data      []byte
	timestamp uint32
	// followsLoss is whether packets before the frame were lost.
	followsLoss bool
}

// assembler puts the packets of a VP8 track into order, and joins them to frames. A frame is
// complete with its last packet: pion's samplebuilder waits for the next frame, which costs the
// time of one.
type assembler struct {
	packets map[uint16]*rtp.Packet
	// next is the number of the first packet that is not joined.
	next      uint16
	isStarted bool
	hasLoss   bool
}

func newAssembler() *assembler { return &assembler{packets: map[uint16]*rtp.Packet{}} }

// push adds a packet. Late ones and repeated ones are ignored.
func (a *assembler) push(packet *rtp.Packet) {
	if !a.isStarted {
		a.next, a.isStarted = packet.SequenceNumber, true
	}
	if int16(packet.SequenceNumber-a.next) < 0 {
		return
	}
	a.packets[packet.SequenceNumber] = packet
	count := len(a.packets)
	if count > maxPackets || count > maxLatePackets && count-a.row() > maxLatePackets {
		a.skipLoss()
	}
}

// row returns the number of packets before the first missing one.
func (a *assembler) row() int {
	count := 0
	for a.packets[a.next+uint16(count)] != nil {
		count++
	}
	return count
}

// pop returns the oldest frame, or nil if it is not complete.
func (a *assembler) pop() *encodedFrame {
	for number := a.next; ; number++ {
		packet := a.packets[number]
		if packet == nil {
			return nil
		}
		if !packet.Marker {
			continue
		}
		frame := &encodedFrame{timestamp: packet.Timestamp, followsLoss: a.hasLoss}
		for ; a.next != number+1; a.next++ {
			frame.data = append(frame.data, payload(a.packets[a.next])...)
			delete(a.packets, a.next)
		}
		a.hasLoss = false
		return frame
	}
}

// skipLoss goes on after the missing packet, with the next frame that has a start.
func (a *assembler) skipLoss() {
	a.hasLoss = true
	// The first packet in a row has no packet before it, so the row before the loss ends here.
	for ; a.packets[a.next] != nil; a.next++ {
		delete(a.packets, a.next)
	}
	for len(a.packets) > 0 {
		if packet := a.packets[a.next]; packet != nil {
			if (&codecs.VP8Packet{}).IsPartitionHead(packet.Payload) {
				return
			}
			delete(a.packets, a.next)
		}
		a.next++
	}
	a.isStarted = false
}

// payload returns the part of a frame that a packet has. Padding has no payload.
func payload(packet *rtp.Packet) []byte {
	data, err := (&codecs.VP8Packet{}).Unmarshal(packet.Payload)
	if err != nil {
		return nil
	}
	return data
}
