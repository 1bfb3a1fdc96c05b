import SidelightClient
import SidelightKernels
import SidelightWire
import Testing

/// Tests of the pictures shown instead of frames without a connection.
@Suite struct FallbackPictureSourceTests {
  static func picture(width: Int) throws -> VideoPicture {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: width, height: 1))
    return .frame(try BufferPool().makeFrame(geometry).finish())
  }

  /// The source's answer, as the kind and width of the picture.
  static func answer(
    _ source: FallbackPictureSource, hiding protection: PipelineProtection = []
  ) throws -> String? {
    var source = source
    return source.fallback(
      for: try Self.picture(width: 100), sequence: 1, hiding: protection
    ).map {
      "\($0.kind) \($0.picture.frame?.size.width ?? 0)"
    }
  }

  /// Records a frame of a width.
  static func record(
    _ width: Int, revision: UInt64, disposition: FrameDisposition = .filtered,
    in source: inout FallbackPictureSource
  ) throws {
    source.record(
      try Self.picture(width: width), revision: revision, disposition: disposition)
  }

  @Test func `originals are shown, but not while an override is in force`() throws {
    var source = FallbackPictureSource(policy: .original)
    #expect(try Self.answer(source) == "original 100")
    source.setOverride(2)
    #expect(try Self.answer(source) == nil)
    try Self.record(1, revision: 2, in: &source)
    #expect(try Self.answer(source) == nil)
    source.endOverride(at: 7)
    #expect(try Self.answer(source) == "original 100")
  }

  @Test func `the last frame that came back is shown, if there is one`() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    #expect(try Self.answer(source) == nil)
    try Self.record(1, revision: 1, in: &source)
    try Self.record(2, revision: 1, in: &source)
    #expect(try Self.answer(source) == "lastFrame 2")
  }

  @Test func `while an override is in force, only a frame that it filtered is shown`() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    try Self.record(1, revision: 1, in: &source)
    source.setOverride(5)
    #expect(try Self.answer(source) == nil)
    try Self.record(2, revision: 4, in: &source)
    #expect(try Self.answer(source) == nil, "it was in flight when the override was reported")
    try Self.record(3, revision: 5, in: &source)
    #expect(try Self.answer(source) == "lastFrame 3")
    try Self.record(4, revision: 6, in: &source)
    source.setOverride(6)
    #expect(try Self.answer(source) == "lastFrame 4", "the frame reported the revision first")
  }

  @Test func `a stricter override goes before the one that it replaces`() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.setOverride(2)
    try Self.record(1, revision: 2, in: &source)
    source.setOverride(3)
    #expect(try Self.answer(source) == nil)
    try Self.record(2, revision: 2, in: &source)
    #expect(try Self.answer(source) == nil)
    source.endOverride(at: 7)
    try Self.record(3, revision: 4, in: &source)
    #expect(try Self.answer(source) == "lastFrame 3")
  }

  @Test
  func `a picture of an earlier connection predates an override reported on the current one`()
    throws
  {
    var source = FallbackPictureSource(policy: .lastFrame)
    try Self.record(1, revision: 9, in: &source)
    source.recordConnection(revision: 1)
    #expect(try Self.answer(source) == "lastFrame 1")
    source.setOverride(2)
    #expect(try Self.answer(source) == nil)
  }

  @Test func `the policy nothing shows no picture`() throws {
    var source = FallbackPictureSource(policy: .nothing)
    try Self.record(1, revision: 1, in: &source)
    #expect(try Self.answer(source) == nil)
  }

  @Test(arguments: [1, 2, 3])
  func `while the pipeline protects, no original is shown`(_ protection: Int) throws {
    let source = FallbackPictureSource(policy: .original)
    #expect(try Self.answer(source, hiding: PipelineProtection(rawValue: protection)) == nil)
    #expect(try Self.answer(source, hiding: []) == "original 100")
  }

  @Test func `while the pipeline protects, only a frame that it filtered is shown`() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.recordConnection(revision: 1)
    source.recordApplied(1, requestID: 0, protection: [])
    try Self.record(1, revision: 1, in: &source)
    #expect(try Self.answer(source) == "lastFrame 1")
    #expect(try Self.answer(source, hiding: .faces) == nil)
    source.recordApplied(2, requestID: 1, protection: .faces)
    #expect(try Self.answer(source, hiding: .faces) == nil)
    try Self.record(2, revision: 2, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == "lastFrame 2")
    #expect(try Self.answer(source, hiding: [.faces, .background]) == nil)
    // A frame that passed through shows the face, regardless of the pipeline.
    try Self.record(3, revision: 2, disposition: .passedThrough, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == nil)
    #expect(try Self.answer(source) == "lastFrame 3")
    try Self.record(4, revision: 2, disposition: .degraded, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == "lastFrame 4")
    // A frame of a revision that was not reported.
    try Self.record(5, revision: 9, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == nil)
  }

  @Test func `a picture stays protected over a new connection`() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.recordConnection(revision: 4)
    source.recordApplied(4, requestID: 0, protection: .faces)
    try Self.record(1, revision: 4, in: &source)
    source.recordConnection(revision: 1)
    #expect(try Self.answer(source, hiding: .faces) == "lastFrame 1")
    // Revisions start again, and the first is not known yet.
    try Self.record(2, revision: 4, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == nil)
  }

  @Test func `the frames of an override do not count as protected after it`() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.recordConnection(revision: 1)
    source.setOverride(2)
    source.recordApplied(2, requestID: 0, protection: .faces)
    try Self.record(1, revision: 2, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == "lastFrame 1")
    source.endOverride(at: 3)
    #expect(try Self.answer(source, hiding: .faces) == nil)
    // It was in flight when the end was reported.
    try Self.record(2, revision: 2, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == nil)
    source.recordApplied(3, requestID: 0, protection: .faces)
    try Self.record(3, revision: 3, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == "lastFrame 3")
  }

  @Test
  func `an override that starts and ends between two reports does not count as protected`() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.recordConnection(revision: 1)
    source.endOverride(at: 3)
    source.recordApplied(2, requestID: 0, protection: .faces)
    try Self.record(1, revision: 2, in: &source)
    #expect(try Self.answer(source, hiding: .faces) == nil)
  }

  @Test
  func `on a new connection an override counts until the server reports that it is over`() throws {
    var source = FallbackPictureSource(policy: .original)
    source.setOverride(2)
    source.recordConnection(revision: 2)
    #expect(try Self.answer(source) == nil)
    var other = source
    source.recordApplied(2, requestID: 0, protection: [])
    #expect(try Self.answer(source) == "original 100")
    other.setOverride(2)
    other.recordApplied(2, requestID: 0, protection: [])
    #expect(try Self.answer(other) == nil)
    other.endOverride(at: 3)
    #expect(try Self.answer(other) == "original 100")
  }

  @Test func `originals of encoded video begin with a key frame and have no gaps`() {
    var source = FallbackPictureSource(policy: .original)
    /// Whether a frame is shown.
    func isShown(_ sequence: UInt64, isKeyFrame: Bool = false) -> Bool {
      let frame = EncodedFrame(.vp8, [1], isKeyFrame: isKeyFrame)
      return source.fallback(for: .encoded(frame), sequence: sequence, hiding: []) != nil
    }
    #expect(!isShown(1))
    #expect(source.needsKeyFrame)
    #expect(isShown(2, isKeyFrame: true))
    #expect(!source.needsKeyFrame)
    #expect(isShown(3))
    #expect(!isShown(5), "the server showed another picture in between")
    #expect(isShown(6, isKeyFrame: true))
    #expect(isShown(7))
    source.endStream()
    #expect(!isShown(8))
    source.setOverride(2)
    #expect(!isShown(9, isKeyFrame: true))
    #expect(!source.needsKeyFrame, "a key frame would not be shown either")
    source.endOverride(at: 3)
    #expect(!isShown(10))
  }
}
