import SidelightServer

/// A function of the whole frame with a mistake in it: it counts on seventeen rows. A frame with fewer traps,
/// which ends the process, with all sessions that this has; with workers, those of one worker.
@Sendable func brittle(_ input: Frame, _ output: inout MutableFrame, _ moment: FrameMoment) {
  let rows = Array(0 ..< input.size.height)
  precondition(rows[16] == 16)
  upsideDown(input, &output, moment)
}
