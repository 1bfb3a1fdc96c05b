import CKernels

/// The instruction set that the pixel rows were compiled for, chosen once when the process starts:
/// the best that the machine has, or what `SIDELIGHT_ISA` names.
public enum InstructionSet: String, Sendable, Hashable, CaseIterable {
  /// Portable vector code, for whatever the compiler targets by default.
  case portable
  /// x86-64 with AVX2 and FMA.
  case avx2
  /// x86-64 with AVX-512 F, BW, DQ and VL.
  case avx512

  /// The one in use.
  public static var current: InstructionSet {
    InstructionSet(rawValue: unsafe String(cString: sl_rows_current().pointee.name)) ?? .portable
  }
}
