import CMartletOpenSSL

/// The curve P-256, created once and shared.
// @unchecked Sendable because OpenSSL only reads a group after its creation.
final class P256Group: @unchecked Sendable {
    /// The length of a scalar, and of a coordinate, in bytes.
    static let scalarByteCount = 32
    /// The length of an uncompressed point in bytes.
    static let pointByteCount = 65

    /// The shared group; nil if OpenSSL is out of memory.
    static let shared = P256Group()

    let pointer: OpaquePointer
    /// The number of points on the curve. It is prime, so every point except the point at infinity has this order.
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
