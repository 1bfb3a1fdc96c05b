/// Something that an asset keeps for as long as it lives, so that whoever counts its memory learns from
/// `deinit` that nothing holds it any more: no name, no session and no plan.
package protocol AssetLease: AnyObject, Sendable {}
