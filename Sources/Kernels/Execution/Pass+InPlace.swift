// The pointwise passes: what they write to a place depends on that place alone, and they read it
// first. Where 2x2 pixels share their chroma, the band that writes them is the only one to read them,
// and reads all of them before.

extension FoldedPixelsPass {
  package var worksInPlace: Bool { true }
}

extension FoldedPlanesPass {
  package var worksInPlace: Bool { true }
}

extension StripPass {
  package var worksInPlace: Bool { true }
}
