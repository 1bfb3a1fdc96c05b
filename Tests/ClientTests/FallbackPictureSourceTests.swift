import SidelightClient
import SidelightKernels
import Testing

/// Tests of the pictures shown instead of frames without a connection.
@Suite struct FallbackPictureSourceTests {
  static func picture(width: Int) throws -> VideoPicture {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: width, height: 1))
    return .frame(try BufferPool().makeFrame(geometry).finish())
  }

  /// The source's answer, as the kind and width of the picture.
  static func answer(_ source: FallbackPictureSource) throws -> String? {
    source.fallback(for: try Self.picture(width: 100)).map {
      "\($0.kind) \($0.picture.frame?.size.width ?? 0)"
    }
  }

  @Test("Originals are shown, but not while an override is in force")
  func original() throws {
    var source = FallbackPictureSource(policy: .original)
    #expect(try Self.answer(source) == "original 100")
    source.setOverride(2)
    #expect(try Self.answer(source) == nil)
    source.record(try Self.picture(width: 1), revision: 2)
    #expect(try Self.answer(source) == nil)
    source.setOverride(nil)
    #expect(try Self.answer(source) == "original 100")
  }

  @Test("The last frame that came back is shown, if there is one")
  func lastFrame() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    #expect(try Self.answer(source) == nil)
    source.record(try Self.picture(width: 1), revision: 1)
    source.record(try Self.picture(width: 2), revision: 1)
    #expect(try Self.answer(source) == "lastFrame 2")
  }

  @Test("While an override is in force, only a frame that it filtered is shown")
  func lastFrameUnderOverride() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.record(try Self.picture(width: 1), revision: 1)
    source.setOverride(5)
    #expect(try Self.answer(source) == nil)
    source.record(try Self.picture(width: 2), revision: 4)
    #expect(try Self.answer(source) == nil, "it was in flight when the override was reported")
    source.record(try Self.picture(width: 3), revision: 5)
    #expect(try Self.answer(source) == "lastFrame 3")
    source.record(try Self.picture(width: 4), revision: 6)
    source.setOverride(6)
    #expect(try Self.answer(source) == "lastFrame 4", "the frame reported the revision first")
  }

  @Test("A stricter override goes before the one that it replaces")
  func secondOverride() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.setOverride(2)
    source.record(try Self.picture(width: 1), revision: 2)
    source.setOverride(3)
    #expect(try Self.answer(source) == nil)
    source.record(try Self.picture(width: 2), revision: 2)
    #expect(try Self.answer(source) == nil)
    source.setOverride(nil)
    source.record(try Self.picture(width: 3), revision: 4)
    #expect(try Self.answer(source) == "lastFrame 3")
  }

  @Test("A picture of an earlier connection predates an override reported on the current one")
  func anotherConnection() throws {
    var source = FallbackPictureSource(policy: .lastFrame)
    source.record(try Self.picture(width: 1), revision: 9)
    source.recordConnection()
    #expect(try Self.answer(source) == "lastFrame 1")
    source.setOverride(2)
    #expect(try Self.answer(source) == nil)
  }

  @Test("The policy `nothing` shows no picture")
  func nothing() throws {
    var source = FallbackPictureSource(policy: .nothing)
    source.record(try Self.picture(width: 1), revision: 1)
    #expect(try Self.answer(source) == nil)
  }
}
