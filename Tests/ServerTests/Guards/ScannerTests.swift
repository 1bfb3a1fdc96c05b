import NIOCore
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import Testing

/// Tests of the guards' parsing of the bytes that pass them.
struct ScannerTests {
  @Test func `the scanner finds PINGs and resets in any fragmentation, and changes nothing else`() {
    let pings: [UInt64] = [1, 0x0102_0304_0506_0708, .max]
    let resets: [UInt32] = [1, 7, 0x7FFF_FFFF]
    let preface = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    let others = [
      RawPeer.frame(4, flags: 0, stream: 0),
      RawPeer.frame(0, flags: 0, stream: 1, ByteBuffer(repeating: 6, count: 300)),
      // An answer, a PING and a reset of invalid sizes: HTTP/2 itself judges them.
      RawPeer.frame(6, flags: 1, stream: 0, ByteBuffer(integer: UInt64(9))),
      RawPeer.frame(6, flags: 0, stream: 0, ByteBuffer(integer: UInt32(9)))
        .appending(RawPeer.frame(3, flags: 0, stream: 5, ByteBuffer(integer: UInt64(8)))),
    ]
    var all = preface.appending(others[0])
    var expected = all
    for (index, ping) in pings.enumerated() {
      all = all.appending(RawPeer.frame(6, flags: 0, stream: 0, ByteBuffer(integer: ping)))
      all = all.appending(Self.reset(resets[index]))
      all = all.appending(others[index + 1])
      expected = expected.appending(others[index + 1])
    }
    for size in 1 ... all.readableBytes {
      var scanner = HTTP2FrameScanner()
      var (foundPings, foundResets): ([UInt64], [UInt32]) = ([], [])
      var passed = ByteBuffer()
      var rest = all
      while let piece = rest.readSlice(length: min(size, rest.readableBytes)),
        piece.readableBytes > 0
      {
        for part in scanner.scan(piece) {
          switch part {
          case .ping(let opaque): foundPings.append(opaque)
          case .reset(let stream, let bytes):
            foundResets.append(stream)
            #expect(bytes == Self.reset(stream))
          case .bytes(let bytes): passed = passed.appending(bytes)
          }
        }
      }
      #expect(foundPings == pings)
      #expect(foundResets == resets)
      #expect(passed == expected)
    }
  }

  /// A RST_STREAM with the code CANCEL.
  private static func reset(_ stream: UInt32) -> ByteBuffer {
    RawPeer.frame(3, flags: 0, stream: stream, ByteBuffer(integer: UInt32(8)))
  }

  @Test func `the scanner finds the first message that is too long, in any fragmentation`() {
    let stream = [[], [1], [1, 2, 3], Array(repeating: 7, count: 100)]
      .map { RawPeer.message($0) }.reduce(ByteBuffer()) { $0.appending($1) }
    for size in 1 ... stream.readableBytes {
      for limit in [99, 100] {
        var cursor = MessageCursor()
        var scanner = MessageScanner(
          maxBytes: limit, mayBeCompressed: false, shape: nil, maxFields: 0)
        var finding: MessageScanner.Finding?
        var rest = stream
        while finding == nil, let piece = rest.readSlice(length: min(size, rest.readableBytes)),
          piece.readableBytes > 0
        {
          finding = scanner.scan(
            cursor.segments(of: piece).segments, of: piece.readableBytesUInt8Span)
          if rest.readableBytes > 0, rest.readableBytes < 100 {
            #expect(finding != nil || scanner.isWithinMessage)
          }
        }
        #expect(finding == (limit < 100 ? .tooLong(100) : nil))
        #expect(!scanner.isWithinMessage)
      }
    }
  }

  @Test func `the budget of PINGs allows a burst, then a rate`() {
    let start = NIODeadline.uptimeNanoseconds(0)
    var budget = RateBudget(perSecond: 10, burst: 3, at: start)
    func taken(of count: Int, after time: TimeAmount) -> Int {
      (0 ..< count).count { _ in budget.take(at: start + time) }
    }
    #expect(taken(of: 5, after: .zero) == 3)
    #expect(taken(of: 2, after: .milliseconds(100)) == 1)
    #expect(taken(of: 1, after: .milliseconds(150)) == 0)
    #expect(taken(of: 5, after: .hours(1)) == 3)
  }

  @Test(
    arguments: [
      ("1H", .seconds(3600)), ("2M", .seconds(120)), ("3S", .seconds(3)),
      ("4m", .milliseconds(4)), ("5u", .microseconds(5)), ("6n", .nanoseconds(6)),
      ("0S", .zero), ("00000001S", .seconds(1)), ("99999999H", .seconds(99_999_999 * 3600)),
      ("123456789S", nil), ("-1S", nil), ("+1S", nil), ("1", nil), ("S", nil), ("", nil),
      ("1s", nil), ("1.5S", nil), (" 1S", nil), ("1S ", nil), ("١S", nil),
    ] as [(String, Duration?)])
  func `valid values of grpc-timeout are parsed, and others are rejected`(
    _ header: String, _ expected: Duration?
  ) {
    #expect(CallDeadline.duration(header: header) == expected)
  }

  @Test func `a stall is distinguished from slowness`() {
    let start = NIODeadline.uptimeNanoseconds(0)
    var watch = StallDetector(timeout: .seconds(6))
    watch.begin(at: start)
    func isStalled(taken: Int, after seconds: Int64) -> Bool {
      watch.isStalled(taken: taken, at: start + .seconds(seconds))
    }
    let looks = [(0, 5), (1, 7), (1, 12), (1, 13)].map { isStalled(taken: $0.0, after: $0.1) }
    #expect(looks == [false, false, false, true])
  }
}
