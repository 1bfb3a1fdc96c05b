import SidelightKernels
import SidelightText
import Testing

@Suite("Templates and timecodes") struct TextTemplateTests {
  private static let details = FrameDetails(
    // 2024-02-29 23:59:58.123456789 UTC
    captureNanoseconds: 1_709_251_198_123_456_789, sequence: 42, label: "camera",
    participant: "Ada", tags: ["place": "London"])

  @Test(arguments: [
    ("{capture_time}", "2024-02-29 23:59:58"), ("{capture_time:%H:%M:%S}", "23:59:58"),
    ("{capture_time:%F %T.%L}", "2024-02-29 23:59:58.123"), ("{capture_time:%f}", "123456"),
    ("{capture_time:%y %j %I %p %z %s %%}", "24 060 11 PM +0000 1709251198 %"),
    ("{sequence} {sequence:5}", "42 00042"), ("{{{sequence}}}", "{42}"), ("plain", "plain"),
    ("{label}/{participant}", "\u{2068}camera\u{2069}/\u{2068}Ada\u{2069}"),
    ("{tag:place}{tag:none}", "\u{2068}London\u{2069}"),
  ])
  func `fields are replaced by the values of the frame`(_ text: String, _ expected: String) throws {
    #expect(try TextTemplate(text).text(of: Self.details, utcOffset: 0) == expected)
  }

  @Test func `the clock is ahead of UTC by the offset`() throws {
    let template = try TextTemplate("{capture_time:%F %T %z}")
    #expect(template.text(of: Self.details, utcOffset: 19800) == "2024-03-01 05:29:58 +0530")
    #expect(template.text(of: Self.details, utcOffset: -3600) == "2024-02-29 22:59:58 -0100")
  }

  @Test(arguments: [
    (0, "1970-01-01 00:00:00"), (-1, "1969-12-31 23:59:59"), (951_782_400, "2000-02-29 00:00:00"),
    (4_107_542_400, "2100-03-01 00:00:00"), (9_223_372_036, "2262-04-11 23:47:16"),
    (-9_223_372_036, "1677-09-21 00:12:44"),
  ])
  func `dates follow the Gregorian calendar`(_ seconds: Int64, _ expected: String) throws {
    let details = FrameDetails(captureNanoseconds: seconds * 1_000_000_000)
    #expect(try TextTemplate("{capture_time}").text(of: details, utcOffset: 0) == expected)
  }

  @Test func `values of participants cannot change the text around them`() throws {
    let template = try TextTemplate("<{participant}>")
    let details = FrameDetails(participant: "a\u{202E}b\nc\u{2069}\u{0}d")
    #expect(template.text(of: details, utcOffset: 0) == "<\u{2068}ab c d\u{2069}>")
    let long = FrameDetails(participant: String(repeating: "x", count: 9999))
    #expect(
      template.text(of: long, utcOffset: 0).unicodeScalars.count == TextTemplate.maxScalars)
  }

  @Test func `the frequency of changes follows the fields`() throws {
    #expect(try TextTemplate("a {{b}}").change == .never)
    #expect(try TextTemplate("{label} {capture_time}").change == .sometimes)
    #expect(try TextTemplate("{capture_time:%L}").change == .eachFrame)
    #expect(try TextTemplate("{sequence}").change == .eachFrame)
  }

  @Test(arguments: [
    (Timecode.Form.frames, 25.0, "23:59:58:03"), (.frames, 60, "23:59:58:07"),
    (.milliseconds, 30, "23:59:58.123"), (.count, 30, "42"),
  ])
  func `timecodes of capture times are times of day`(
    _ form: Timecode.Form, _ rate: Double, _ expected: String
  ) {
    let timecode = Timecode(form: form, source: .captureTime, rate: rate)
    #expect(timecode.text(of: Self.details) == expected)
  }

  // The examples of SMPTE 12M's rule: 00:01:00;00 and ;01 do not exist, 00:10:00;00 does.
  @Test(arguments: [
    (1799, "00:00:59;29"), (1800, "00:01:00;02"), (3597, "00:01:59;29"), (3598, "00:02:00;02"),
    (17981, "00:09:59;29"), (17982, "00:10:00;00"), (107_892, "01:00:00;00"),
  ])
  func `drop-frame timecodes leave numbers out`(_ frame: UInt64, _ expected: String) {
    let timecode = Timecode(form: .dropFrame, source: .sequence, rate: 29.97)
    #expect(timecode.text(of: FrameDetails(sequence: frame)) == expected)
  }

  @Test func `successive frames have successive timecodes`() {
    for (form, rate) in [(Timecode.Form.frames, 30.0), (.frames, 23.976), (.dropFrame, 59.94)] {
      let timecode = Timecode(form: form, source: .sequence, rate: rate)
      let texts = (0 ..< 40000).map { timecode.text(of: FrameDetails(sequence: $0)) }
      #expect(Set(texts).count == texts.count)
      #expect(texts == texts.sorted())
    }
  }

  @Test func `a drop-frame timecode of the time of day keeps up with the clock`() {
    let timecode = Timecode(form: .dropFrame, source: .captureTime, rate: 29.97)
    let noon = FrameDetails(captureNanoseconds: 12 * 3600 * 1_000_000_000)
    // The numbers of a day differ from the clock by less than 0.1 seconds.
    #expect(timecode.text(of: noon).hasPrefix("12:00:00"))
  }
}
