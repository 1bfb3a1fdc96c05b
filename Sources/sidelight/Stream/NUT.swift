import SidelightCodecs
import SidelightKernels

/// The description of a NUT stream of raw or encoded video.
struct NUTStream: Hashable {
  /// The form of the packets: `I420` and `Y800` without padding, `H264` with start codes, `VP80`,
  /// `VP90`, `AV01`.
  var fourCC: String
  /// The size in pixels.
  var size: FrameSize
  /// The ratio of a pixel's width to its height, if known.
  var pixelAspect: Rational?
  /// The duration of a tick in seconds.
  var timeBase: Rational
}

/// A packet of a NUT stream: a picture.
struct NUTPacket: Hashable {
  var bytes: [UInt8]
  /// The time in ticks, at least 0.
  var time: Int
  var isKeyFrame = true
}

/// The constants of NUT, the container in which ffmpeg passes on raw and encoded video with exact
/// times. Specification: <https://ffmpeg.org/~michael/nut.txt>.
private enum NUT {
  static let identifier = Array("nut/multimedia container\0".utf8)
  static let mainHeader: UInt64 = 0x4E4D_7A56_1F5F_04AD
  static let streamHeader: UInt64 = 0x4E53_1140_5BF2_F9DB
  static let syncPoint: UInt64 = 0x4E4B_E4AD_EECA_4569
  /// The first byte of the start codes, which is not used as a frame code.
  static let startCode = UInt8(ascii: "N")
  /// The length from which a header has its own checksum.
  static let longPacket = 4096

  /// The flags of a frame.
  struct Flags: OptionSet, Sendable {
    let rawValue: Int
    static let key = Flags(rawValue: 1 << 0)
    static let codedTime = Flags(rawValue: 1 << 3)
    static let streamID = Flags(rawValue: 1 << 4)
    static let sizeMSB = Flags(rawValue: 1 << 5)
    static let checksum = Flags(rawValue: 1 << 6)
    static let reserved = Flags(rawValue: 1 << 7)
    static let sideData = Flags(rawValue: 1 << 8)
    static let headerIndex = Flags(rawValue: 1 << 10)
    static let matchTime = Flags(rawValue: 1 << 11)
    static let coded = Flags(rawValue: 1 << 12)
    static let invalid = Flags(rawValue: 1 << 13)
  }

  /// CRC-32 with the polynomial 0x04C11DB7, most significant bit first, from 0.
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(0) { sum, byte in
      (0 ..< 8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in
        sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0)
      }
    }
  }
}

/// Reads a NUT file with one stream, as ffmpeg writes it. A closure reads its bytes, and blocks.
struct NUTReader: Sendable {
  /// Reads bytes into a buffer, and returns their number; 0 at the end.
  typealias Read = @Sendable (UnsafeMutableRawBufferPointer) throws -> Int

  /// The meaning of a frame code.
  private struct FrameCode: Sendable {
    var flags: NUT.Flags = .invalid
    var sizeFactor = 1
    var sizeLSB = 0
    var timeStep = 0
    var reserved = 0
  }

  let stream: NUTStream
  private var source: NUTSource
  private var codes: [FrameCode]
  private let elidedHeaders: [[UInt8]]
  private let timeShift: Int
  private var lastTime = 0

  /// Reads the headers.
  ///
  /// - Throws: `CodecError` with code `unknownFormat` for other files, `unsupported` for other kinds
  ///   of streams and `truncated`; the error of `read`.
  init(read: @escaping Read) throws {
    var source = NUTSource(read: read)
    guard try source.bytes(NUT.identifier.count) == NUT.identifier else {
      throw CodecError(.unknownFormat, "the stream is not NUT")
    }
    // The main header.
    var main = try source.packet(NUT.mainHeader)
    let (version, streams) = (try main.number(), try main.number())
    guard version <= 4, streams == 1 else {
      throw CodecError(.unsupported, "NUT of version \(version) with \(streams) streams")
    }
    if version > 3 { _ = try main.number() }
    _ = try main.number()
    let timeBases = try (0 ..< main.number()).map { _ in
      let (numerator, denominator) = (try main.number(), try main.number())
      guard let timeBase = Rational(numerator, denominator) else {
        throw CodecError(.corrupt, "a time base is \(numerator):\(denominator)")
      }
      return timeBase
    }
    self.codes = try Self.frameCodes(&main)
    self.elidedHeaders = [[]] + (try (0 ..< main.number()).map { _ in try main.string() })
    // The stream header.
    var header = try source.packet(NUT.streamHeader)
    _ = try header.number()
    guard try header.number() == 0 else { throw CodecError(.unsupported, "not a video stream") }
    let fourCC = String(decoding: try header.string(), as: UTF8.self)
    let timeBase = try header.number()
    guard timeBases.indices.contains(timeBase) else {
      throw CodecError(.corrupt, "there is no time base \(timeBase)")
    }
    self.timeShift = min(try header.number(), 32)
    for _ in 0 ..< 3 { _ = try header.number() }
    _ = try header.string()
    let size = FrameSize(width: try header.number(), height: try header.number())
    let aspect = (try header.number(), try header.number())
    self.stream = NUTStream(
      fourCC: fourCC, size: size, pixelAspect: Rational(aspect.0, aspect.1),
      timeBase: timeBases[timeBase])
    self.source = source
  }

  /// Returns the next packet, or `nil` at the end.
  ///
  /// - Throws: `CodecError` with code `corrupt`, `unsupported` or `truncated`; the error of `read`.
  mutating func next() throws -> NUTPacket? {
    while let code = try self.source.byteIfAny() {
      if code == NUT.startCode {
        let kind = try self.source.bytes(7).reduce(UInt64(code)) { $0 << 8 | UInt64($1) }
        var packet = try self.source.packetContents()
        // The only stream has the only time base.
        if kind == NUT.syncPoint { self.lastTime = try packet.number() }
      } else {
        return try self.frame(self.codes[Int(code)])
      }
    }
    return nil
  }

  private mutating func frame(_ code: FrameCode) throws -> NUTPacket {
    var flags = code.flags
    var size = code.sizeLSB
    var reserved = code.reserved
    if flags.contains(.coded) { flags.formSymmetricDifference(.init(rawValue: try self.number())) }
    guard flags.isDisjoint(with: [.invalid, .sideData]) else {
      throw CodecError(.unsupported, "a NUT frame has the flags \(flags.rawValue)")
    }
    if flags.contains(.streamID) { _ = try self.number() }
    if flags.contains(.codedTime) {
      let coded = try self.number()
      let range = 1 << self.timeShift
      if coded >= range {
        self.lastTime = coded - range
      } else {
        let first = self.lastTime - (range - 1) / 2
        self.lastTime = ((coded - first) & (range - 1)) + first
      }
    } else {
      self.lastTime += code.timeStep
    }
    if flags.contains(.sizeMSB) {
      let (product, overflow) = try self.number().multipliedReportingOverflow(by: code.sizeFactor)
      guard !overflow, product < 1 << 32 else { throw CodecError(.corrupt, "a frame is too long") }
      size += product
    }
    if flags.contains(.matchTime) { _ = try self.number() }
    let header = flags.contains(.headerIndex) ? try self.number() : 0
    if flags.contains(.reserved) { reserved = try self.number() }
    for _ in 0 ..< reserved { _ = try self.number() }
    if flags.contains(.checksum) { _ = try self.source.bytes(4) }
    guard self.elidedHeaders.indices.contains(header) else {
      throw CodecError(.corrupt, "there is no header \(header)")
    }
    let start = size > NUT.longPacket ? [] : self.elidedHeaders[header]
    guard size >= start.count else { throw CodecError(.corrupt, "a frame is too short") }
    let bytes = start + (try self.source.bytes(size - start.count))
    return NUTPacket(bytes: bytes, time: self.lastTime, isKeyFrame: flags.contains(.key))
  }

  private mutating func number() throws -> Int { try self.source.number() }

  private static func frameCodes(_ header: inout NUTContents) throws -> [FrameCode] {
    var codes: [FrameCode] = []
    var (factor, timeStep) = (1, 0)
    while codes.count < 256 {
      let flags = NUT.Flags(rawValue: try header.number())
      let fields = try header.number()
      if fields > 0 { timeStep = try header.signedNumber() }
      if fields > 1 { factor = try header.number() }
      if fields > 2 { _ = try header.number() }
      let size = fields > 3 ? try header.number() : 0
      let reserved = fields > 4 ? try header.number() : 0
      let count = fields > 5 ? try header.number() : factor - size
      if fields > 6 { _ = try header.signedNumber() }
      if fields > 7 { _ = try header.number() }
      for _ in 8 ..< max(8, fields) { _ = try header.number() }
      guard count > 0, codes.count + count <= 256 else {
        throw CodecError(.corrupt, "the frame codes are \(codes.count + count)")
      }
      for index in 0 ..< count {
        if codes.count == NUT.startCode { codes.append(FrameCode()) }
        var code = FrameCode(flags: flags)
        (code.sizeFactor, code.sizeLSB) = (factor, size + index)
        (code.timeStep, code.reserved) = (timeStep, reserved)
        codes.append(code)
      }
      if codes.count == NUT.startCode { codes.append(FrameCode()) }
    }
    return codes
  }
}

/// Numbers as NUT codes them.
private protocol NUTNumbers {
  mutating func byte() throws -> UInt8
}

extension NUTNumbers {
  mutating func number() throws -> Int {
    var value = 0
    while true {
      let byte = try self.byte()
      guard value < 1 << 55 else { throw CodecError(.corrupt, "a number is too large") }
      value = value << 7 | Int(byte & 0x7F)
      if byte & 0x80 == 0 { return value }
    }
  }

  mutating func signedNumber() throws -> Int {
    let value = try self.number() + 1
    return value & 1 == 1 ? -(value >> 1) : value >> 1
  }
}

/// The contents of a packet that is not a frame.
private struct NUTContents: NUTNumbers {
  var bytes: ArraySlice<UInt8>

  mutating func byte() throws -> UInt8 {
    guard let byte = self.bytes.popFirst() else {
      throw CodecError(.corrupt, "a NUT header is too short")
    }
    return byte
  }

  mutating func string() throws -> [UInt8] {
    let count = try self.number()
    guard count <= self.bytes.count else { throw CodecError(.corrupt, "a NUT header is too short") }
    defer { self.bytes = self.bytes.dropFirst(count) }
    return Array(self.bytes.prefix(count))
  }
}

/// The bytes of a NUT file.
private struct NUTSource: NUTNumbers {
  let read: NUTReader.Read
  var chunk = [UInt8](repeating: 0, count: 64 << 10)
  var available = 0 ..< 0

  /// Returns a byte, or `nil` at the end.
  mutating func byteIfAny() throws -> UInt8? {
    if self.available.isEmpty {
      self.available = try 0 ..< self.chunk.withUnsafeMutableBytes { try self.read($0) }
    }
    guard let index = self.available.first else { return nil }
    self.available = index + 1 ..< self.available.upperBound
    return self.chunk[index]
  }

  mutating func byte() throws -> UInt8 {
    guard let byte = try self.byteIfAny() else {
      throw CodecError(.truncated, "the video ends within a picture")
    }
    return byte
  }

  mutating func bytes(_ count: Int) throws -> [UInt8] {
    let buffered = min(count, self.available.count)
    let first = self.available.lowerBound
    var bytes = [UInt8](unsafeUninitializedCapacity: count) { _, count in count = 0 }
    bytes += self.chunk[first ..< first + buffered]
    self.available = first + buffered ..< self.available.upperBound
    guard buffered < count else { return bytes }
    let rest = count - buffered
    bytes += try [UInt8](unsafeUninitializedCapacity: rest) { buffer, filled in
      while filled < rest {
        let free = UnsafeMutableRawBufferPointer(buffer)[filled ..< rest]
        let length = try self.read(UnsafeMutableRawBufferPointer(rebasing: free))
        guard length > 0 else {
          throw CodecError(.truncated, "the video ends within a picture")
        }
        filled += length
      }
    }
    return bytes
  }

  /// Returns the contents of the next packet, which has the start code.
  mutating func packet(_ startCode: UInt64) throws -> NUTContents {
    let code = try self.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard code == startCode else { throw CodecError(.corrupt, "a NUT header is missing") }
    return try self.packetContents()
  }

  /// Returns the contents of a packet after its start code.
  mutating func packetContents() throws -> NUTContents {
    let length = try self.number()
    guard (4 ... 1 << 24).contains(length) else {
      throw CodecError(.corrupt, "a NUT packet has \(length) bytes")
    }
    if length > NUT.longPacket { _ = try self.bytes(4) }
    return NUTContents(bytes: try self.bytes(length).dropLast(4))
  }
}

/// Writes a NUT file with one stream of video. A closure writes its bytes, and blocks.
struct NUTWriter {
  private let write: (UnsafeRawBufferPointer) throws -> Void
  private var staged: [UInt8]

  /// - Parameter write: Writes bytes. Called with the first packet for the first time.
  init(_ stream: NUTStream, write: @escaping (UnsafeRawBufferPointer) throws -> Void) {
    self.write = write
    self.staged = NUT.identifier
    // Version, streams, the largest distance of synchronization points, one time base; one entry of
    // 255 frame codes, whose frames state everything themselves, with size factor 1; no elided
    // headers.
    let (numerator, denominator) = (stream.timeBase.numerator, stream.timeBase.denominator)
    var main = [3, 1, 32767, 1, numerator, denominator].flatMap(Self.number)
    main += [NUT.Flags.coded.rawValue, 6, 0, 1, 0, 0, 0, 255, 0].flatMap(Self.number)
    self.append(NUT.mainHeader, main)
    // Stream, class video, form, time base, bits of short times, the largest distance of times,
    // delay, flags, no private data; no colour space.
    var header = [0, 0, stream.fourCC.utf8.count].flatMap(Self.number) + stream.fourCC.utf8
    let aspect = stream.pixelAspect.map { [$0.numerator, $0.denominator] } ?? [0, 0]
    header += ([0, 0, 32767, 0, 0, 0, stream.size.width, stream.size.height] + aspect + [0])
      .flatMap(Self.number)
    self.append(NUT.streamHeader, header)
  }

  /// Writes a packet.
  ///
  /// - Throws: The error of `write`.
  mutating func append(_ packet: NUTPacket) throws {
    // Pictures are longer than the largest distance without one.
    self.append(NUT.syncPoint, Self.number(packet.time) + [0])
    var flags: NUT.Flags = [.codedTime, .sizeMSB, .checksum]
    if packet.isKeyFrame { flags.insert(.key) }
    let header =
      [0] + [flags.rawValue, packet.time + 1, packet.bytes.count].flatMap(Self.number)
    self.staged += header + Self.bytes(of: NUT.checksum(header))
    self.staged += packet.bytes
    try self.staged.withUnsafeBytes { try self.write($0) }
    self.staged.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ startCode: UInt64, _ contents: [UInt8]) {
    self.staged += Self.bytes(of: startCode) + Self.number(contents.count + 4) + contents
    self.staged += Self.bytes(of: NUT.checksum(contents))
  }

  private static func number(_ value: Int) -> [UInt8] {
    var bytes = [UInt8(value & 0x7F)]
    var rest = value >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }

  private static func bytes(of value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian, Array.init)
  }
}
