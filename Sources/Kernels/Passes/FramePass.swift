/// A user's function of a whole frame.
struct FramePass: Pass {
  let description: PassDescription
  let color: ColorDescription
  let body: @Sendable (Frame, inout MutableFrame, FrameMoment) throws -> Void

  func run(_ context: PassContext) async throws {
    let input = context.inputs[0].frame(color: self.color, orientation: .upright)
    var output = context.output.mutableFrame(color: self.color)
    // What the function leaves unwritten is nobody's former picture.
    unsafe _ = output.buffer.bytes.initializeMemory(as: UInt8.self, repeating: 0)
    try self.body(input, &output, context.moment)
    precondition(
      output.buffer === context.output.mutableFrame(color: self.color).buffer
        && output.layout == context.output.layout,
      "the function put another frame in the place of the one it was to write")
  }
}
