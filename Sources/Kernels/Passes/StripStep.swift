/// One step on a strip, in place: plain figures and addresses without owners, so that threads that
/// run the same program do not contend for reference counts. The ``StripProgram`` owns what they
/// refer to.
@safe
enum StripStep {
  case matrix(StripMatrix)
  case field(FieldView)
  /// A function; where the picture is opaque it sees alpha 1, and what it does to alpha is void.
  case kernel(Unmanaged<StripKernel>, isOpaque: Bool)
  /// Divides colour by alpha.
  case unpremultiply
  /// Multiplies colour by alpha.
  case premultiply
  /// Limits colour to alpha.
  case limit
  /// Sets alpha to 1.
  case seal
  /// A function of the pixel and that of the frame as it came in.
  case source(SourceStep)
  /// Steps whose result is mixed with their input, within a rectangle; straight colours by their
  /// alphas, where alpha may have changed.
  case group(Unmanaged<StripProgram>, amount: Float, rect: PixelRect?, weighsAlpha: Bool)
  /// Mixes with the pass's other picture.
  case blend(amount: Float, rect: PixelRect?, premultiplies: Bool)
}
