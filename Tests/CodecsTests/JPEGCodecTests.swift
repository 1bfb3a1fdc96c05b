import SidelightCodecs
import SidelightKernels
import Testing

@Suite struct `A JPEG codec` {
  let pool = BufferPool()
  var codec: JPEGCodec { JPEGCodec(pool: self.pool) }

  static let sampleSize = FrameSize(width: 19, height: 13)
  static let samples: [(String, [UInt8], JPEGHeader.Chroma)] = [
    ("4:4:0", JPEGSamples.rows, .every(columns: 1, rows: 2)),
    ("4:1:1", JPEGSamples.columns, .every(columns: 4, rows: 1)),
    ("progressive", JPEGSamples.progressive, .every(columns: 2, rows: 2)),
    ("RGB", JPEGSamples.rgb, .every(columns: 1, rows: 1)),
    ("arithmetic", JPEGSamples.arithmetic, .every(columns: 2, rows: 2)),
  ]

  @Test func `reads size and chroma from the header alone`() throws {
    let frame = try Scene.slopes(.rgb24, FrameSize(width: 65, height: 49))
    for (subsampling, chroma, format) in [
      (JPEGSubsampling.none, JPEGHeader.Chroma.every(columns: 1, rows: 1), PixelFormat.rgb24),
      (.half, .every(columns: 2, rows: 1), .i420), (.quarter, .every(columns: 2, rows: 2), .i420),
    ] {
      let file = try ImageEncoder(.jpeg(subsampling: subsampling)).encode(frame)
      // Cut off right after the frame header: later bytes are not read.
      let start = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
      let header = try self.codec.header(of: Array(file[..<(start + 19)]))
      #expect(header.size == frame.size)
      #expect(header.chroma == chroma)
      #expect(header.geometry == FrameGeometry(format: format, size: frame.size, color: .jpeg))
    }
    for (name, file, chroma) in Self.samples {
      #expect(try self.codec.header(of: file).chroma == chroma, "\(name)")
      #expect(try self.codec.header(of: file).size == Self.sampleSize)
    }
  }

  @Test(arguments: samples)
  func `decodes every kind of chroma to 4:2:0, close to the picture that was`(
    name: String, file: [UInt8], chroma: JPEGHeader.Chroma
  ) throws {
    let frame = try self.codec.decode(file, as: .i420)
    #expect(frame.geometry == FrameGeometry(format: .i420, size: Self.sampleSize, color: .jpeg))
    self.expectSlopes(frame) { x, y in
      (Double(40 + 7 * x), Double(200 - 8 * y), Double(60 + 3 * x + 3 * y))
    }
  }

  @Test(arguments: Scene.sizes)
  func `reduces 4:4:4 and 4:2:2 at every size`(size: FrameSize) throws {
    let frame = try Scene.slopes(.rgb24, size)
    for subsampling in [JPEGSubsampling.none, .half] {
      let file = try ImageEncoder(.jpeg(quality: 98, subsampling: subsampling)).encode(frame)
      let planes = try self.codec.decode(file, as: .i420)
      #expect(planes.size == size)
      let rgb = Scene.packed(frame).map(Double.init)
      self.expectSlopes(planes) { x, y in
        let pixel = 3 * (y * size.width + x)
        return (rgb[pixel], rgb[pixel + 1], rgb[pixel + 2])
      }
    }
  }

  @Test func `gives a grey picture planes without colour`() throws {
    let frame = try Scene.noise(.gray8, FrameSize(width: 33, height: 21))
    let file = try ImageEncoder(.jpeg(quality: 100)).encode(frame)
    #expect(try self.codec.header(of: file).geometry.format == .i420)
    let planes = Scene.packed(try self.codec.decode(file))
    let grey = Scene.packed(try self.codec.decode(file, as: .gray8))
    #expect(Array(planes.prefix(grey.count)) == grey)
    #expect(planes.dropFirst(grey.count).allSatisfy { $0 == 128 })
    // The header declares the decoded geometry.
    for file in [file, JPEGSamples.rgb, JPEGSamples.rows] {
      #expect(try self.codec.decode(file).geometry == self.codec.header(of: file).geometry)
    }
  }

  @Test func `decodes by a file's own tables, and never by those of a file before`() throws {
    let size = FrameSize(width: 24, height: 16)
    let coarse = try ImageEncoder(.jpeg(quality: 10)).encode(try Scene.noise(.rgb24, size))
    let file = try ImageEncoder(.jpeg(quality: 95, subsampling: .quarter))
      .encode(try Scene.slopes(.rgb24, size))
    let used = self.codec
    for kind in [0xDB, 0xC4] as [UInt8] {
      let bare = Self.removing(kind, from: file)
      #expect(bare.count < file.count)
      _ = try used.decode(coarse)
      _ = try used.decode(JPEGSamples.progressive)
      let fresh = Result { try JPEGCodec(pool: self.pool).decode(bare) }
      let after = Result { try used.decode(bare) }
      switch (fresh, after) {
      case (.success(let fresh), .success(let after)):
        // Without Huffman tables the standard's tables apply, as in motion JPEG.
        #expect(kind == 0xC4)
        #expect(Scene.packed(fresh) == Scene.packed(after))
        #expect(Scene.packed(after) == Scene.packed(try used.decode(file)))
      case (.failure(let fresh), .failure(let after)):
        #expect(kind == 0xDB)
        #expect(fresh as? CodecError == after as? CodecError)
      default: Issue.record("a codec that was used decodes otherwise than a new one")
      }
    }
  }

  @Test func `gives the same from many tasks at once, and gives back all memory`() async throws {
    let codec = self.codec
    let frames = try Scene.sizes.map { try Scene.noise(.i420, $0, color: .jpeg) }
    let expected = try frames.map { try ImageEncoder(.jpeg(subsampling: .quarter)).encode($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0 ..< 8 {
        group.addTask {
          for round in 0 ..< 20 {
            let index = (task + round) % frames.count
            let file = try codec.withEncoded(frames[index], JPEGSettings(quality: 90)) { file in
              file.withUnsafeBytes { [UInt8]($0) }
            }
            #expect(file == expected[index])
            #expect(try codec.decode(file).size == frames[index].size)
            // A failure in between doesn't affect later files.
            #expect(throws: CodecError.self) { try codec.decode(file.dropLast(3)) }
          }
        }
      }
      while try await group.next() != nil {}
    }
    #expect(self.pool.statistics.bytesInUse == 0)
  }

  @Test func `writes into memory that is long enough, and refuses what is too short`() throws {
    let codec = self.codec
    let frame = try Scene.noise(.rgb24, FrameSize(width: 40, height: 30))
    let settings = JPEGSettings(quality: 90, subsampling: .half)
    let file = try ImageEncoder(.jpeg(quality: 90, subsampling: .half)).encode(frame)
    var room = [UInt8](repeating: 7, count: JPEGCodec.maxByteCount(of: frame.size, settings))
    let count = try Self.encode(frame, settings, into: &room, codec)
    #expect(count == file.count)
    #expect(Array(room.prefix(file.count)) == file)
    for count in [0, 1, 100, file.count - 1] {
      var room = [UInt8](repeating: 7, count: count)
      let error = #expect(throws: CodecError.self) {
        _ = try Self.encode(frame, settings, into: &room, codec)
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.message.contains("\(file.count) bytes, there are \(count)") == true)
      #expect(room.allSatisfy { $0 == 7 })
    }
  }

  @Test func `refuses a file of more scans than pictures have, before it decodes any`() throws {
    let file = JPEGSamples.progressive
    let last = try #require(file.lastIndex(of: 0xDA)) - 1
    let scan = Array(file[last ..< file.count - 2])
    // Ten scans are in the file; the last once more and once more.
    let most = Array(file.dropLast(2)) + (0 ..< 54).flatMap { _ in scan } + [0xFF, 0xD9]
    let bomb = Array(file.dropLast(2)) + (0 ..< 55).flatMap { _ in scan } + [0xFF, 0xD9]
    _ = try? self.codec.decode(file)
    let taken = self.pool.statistics
    let error = #expect(throws: CodecError.self) { try self.codec.decode(bomb) }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("64 scans") == true)
    #expect(self.pool.statistics.misses == taken.misses)
    let other = #expect(throws: CodecError.self) { try self.codec.decode(most) }
    #expect(other?.code == .corrupt)
    // For a picture of the maximum size a scan costs more.
    let tight = JPEGCodec(pool: self.pool, limits: ImageLimits(maxPixels: 19 * 13))
    _ = try tight.decode(file)
    let large = #expect(throws: CodecError.self) { try tight.decode(most) }
    #expect(large?.message.contains("16 scans") == true)
  }

  @Test func `skips 10 MB of metadata, and takes no memory for it`() throws {
    let frame = try Scene.slopes(.rgb24, FrameSize(width: 64, height: 48))
    let file = try ImageEncoder(.jpeg(subsampling: .quarter)).encode(frame)
    var segment: [UInt8] = [0xFF, 0xE1, 0xFF, 0xFF] + Array("Exif\0\0".utf8)
    segment += [UInt8](repeating: 0xFF, count: 65535 - 2 - 6)
    let large = Array(file[..<2]) + (0 ..< 160).flatMap { _ in segment } + Array(file[2...])
    #expect(large.count > 10 << 20)
    #expect(try self.codec.header(of: large).size == frame.size)
    let pool = BufferPool()
    let decoded = try JPEGCodec(pool: pool).decode(large)
    #expect(Scene.packed(decoded) == Scene.packed(try self.codec.decode(file)))
    #expect(pool.statistics.bytesInUse < 65536)
  }

  @Test func `does not walk for ever to find a header`() {
    let fill = [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 1 << 20)
    let segment: [UInt8] = [0xFF, 0xE1, 0, 2]
    let empty = [0xFF, 0xD8] + Array(repeatElement(segment, count: 1 << 18).joined())
    for (file, word) in [(fill, "64 fill bytes"), (empty, "2048 segments")] {
      let error = #expect(throws: CodecError.self) { try self.codec.header(of: file) }
      #expect(error?.code == .corrupt)
      #expect(error?.message.contains(word) == true)
    }
  }

  @Test func `names chroma that it cannot place, and damage within a header`() {
    for (file, code) in [
      (JPEGSamples.thirds, CodecError.Code.unsupported),
      (Array("\u{89}PNG\r\n".utf8), .unknownFormat), ([], .unknownFormat),
      ([0xFF, 0xD8, 0xFF, 0xC0, 0, 3, 8, 0xFF, 0xD9], .corrupt),
      ([0xFF, 0xD8, 0xFF, 0xC0, 0, 8, 8, 0, 1, 0, 1, 3, 0xFF, 0xD9], .corrupt),
      ([0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x05, 0, 0xFF, 0xD9], .corrupt),
    ] {
      let error = #expect(throws: CodecError.self) { try self.codec.decode(file) }
      #expect(error?.code == code, "\(error.debugDescription)")
    }
  }

  /// Checks planes of full range and BT.601 against the pixels that they stand for: luma to a few
  /// levels, chroma against the mean of its 2x2 pixels.
  func expectSlopes(
    _ frame: Frame, _ pixel: (Int, Int) -> (red: Double, green: Double, blue: Double)
  ) {
    let size = frame.size
    var (worstLuma, worstChroma) = (0.0, 0.0)
    for y in 0 ..< size.height {
      frame.withRow(y) { row in
        for x in 0 ..< size.width {
          let (red, green, blue) = pixel(x, y)
          let luma = 0.299 * red + 0.587 * green + 0.114 * blue
          worstLuma = max(
            worstLuma, abs(luma - Double(row.unsafeLoad(fromByteOffset: x, as: UInt8.self))))
        }
      }
    }
    for plane in 1 ... 2 {
      for y in 0 ..< (size.height + 1) / 2 {
        frame.withRow(y, plane: plane) { row in
          for x in 0 ..< (size.width + 1) / 2 {
            var mean = 0.0
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
              let (red, green, blue) = pixel(
                min(2 * x + dx, size.width - 1), min(2 * y + dy, size.height - 1))
              let luma = 0.299 * red + 0.587 * green + 0.114 * blue
              mean += (plane == 1 ? (blue - luma) / 1.772 : (red - luma) / 1.402) / 4
            }
            let value = Double(row.unsafeLoad(fromByteOffset: x, as: UInt8.self)) - 128
            worstChroma = max(worstChroma, abs(mean - value))
          }
        }
      }
    }
    #expect(worstLuma <= 6)
    // A sample of 4:1:1 stands for four columns, the middle of which lies a pixel away: 7 levels of
    // red a column come to 3.5 of Cr.
    #expect(worstChroma <= 7)
  }

  /// Encodes into an array, as long as it is.
  static func encode(
    _ frame: Frame, _ settings: JPEGSettings, into room: inout [UInt8], _ codec: JPEGCodec
  ) throws(CodecError) -> Int {
    var span = room.mutableSpan
    var bytes = span.mutableBytes
    return try codec.encode(frame, settings, into: &bytes)
  }

  /// The file without its segments of a kind.
  static func removing(_ marker: UInt8, from file: [UInt8]) -> [UInt8] {
    var result = Array(file[..<2])
    var offset = 2
    while file[offset + 1] != 0xDA {
      let end = offset + 2 + (Int(file[offset + 2]) << 8 | Int(file[offset + 3]))
      if file[offset + 1] != marker { result += file[offset ..< end] }
      offset = end
    }
    return result + file[offset...]
  }
}

extension JPEGCodec {
  fileprivate func header(of file: [UInt8]) throws(CodecError) -> JPEGHeader {
    let span = file.span.bytes
    return try self.header(of: span)
  }

  fileprivate func decode(
    _ file: [UInt8], as format: PixelFormat? = nil
  ) throws(CodecError) -> Frame {
    let span = file.span.bytes
    return try self.decode(span, as: format)
  }
}
