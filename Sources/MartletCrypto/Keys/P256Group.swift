import CMartletOpenSSL

/// The curve P-256, made once for everybody.
// Sendable because the library only reads a group after it was made.
final class P256Group: @unchecked Sendable {
    /// The length of a scalar and of a coordinate in bytes.
    static let scalarByteCount = 32
    /// The length of an uncompressed point in bytes.
    static let pointByteCount = 65

    /// nil where the library has no memory left.
    static let shared = P256Group()

    let pointer: OpaquePointer
    /// The number of points, which is prime: every point of the curve but the one at infinity has this order.
    let order: OpaquePointer

    private init?() {
        guard let pointer = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        guard let order = EC_GROUP_get0_order(pointer) else {
            EC_GROUP_free(pointer)
            return nil
        }
        self.pointer = pointer
        self.order = order
    }

    deinit { EC_GROUP_free(pointer) }
}
