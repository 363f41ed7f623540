import CMartletOpenSSL

/// Diffie-Hellman on P-256 (SP 800-56A, section 5.7.1.2), optimised for thousands of computations.
///
/// The type uses points and scalars instead of OpenSSL's key objects, because importing a peer's key, creating a key
/// and setting up a derivation take longer than the arithmetic itself. Every received point is checked to be on the
/// curve. No other check is needed: the number of points on the curve is prime, so no point has a small order. The
/// check costs a hundredth of the multiplication.
///
/// Not thread-safe: an instance holds the working memory of one computation.
final class P256Agreement {
    private let group: P256Group
    private let context: OpaquePointer
    private let point: OpaquePointer
    private let product: OpaquePointer
    private let number: OpaquePointer
    private let coordinate: OpaquePointer

    init() throws(CryptoError) {
        guard let group = P256Group.shared else { throw Self.noMemory }
        let context = BN_CTX_new()
        let (point, product) = (EC_POINT_new(group.pointer), EC_POINT_new(group.pointer))
        let (number, coordinate) = (BN_new(), BN_new())
        guard let context, let point, let product, let number, let coordinate else {
            BN_CTX_free(context)
            for made in [point, product] { EC_POINT_free(made) }
            for made in [number, coordinate] { BN_free(made) }
            throw Self.noMemory
        }
        self.group = group
        self.context = context
        self.point = point
        self.product = product
        self.number = number
        self.coordinate = coordinate
        BN_set_flags(number, BN_FLG_CONSTTIME)
    }

    deinit {
        BN_clear_free(number)
        BN_clear_free(coordinate)
        EC_POINT_clear_free(product)
        EC_POINT_free(point)
        BN_CTX_free(context)
    }

    /// Computes the public point of a private key.
    /// - Returns: The point, 65 bytes; nil if the scalar is 0 or not below the group's order.
    func publicPoint(of scalar: [UInt8]) throws(CryptoError) -> [UInt8]? {
        guard try load(scalar) else { return nil }
        var bytes = [UInt8](repeating: 0, count: P256Group.pointByteCount)
        guard EC_POINT_mul(group.pointer, product, number, nil, nil, context) == 1,
            EC_POINT_point2oct(
                group.pointer, product, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context) == bytes.count
        else { throw Self.failure("point multiplication") }
        return bytes
    }

    /// Computes the shared secret of a private key and another key's public point: the x-coordinate of their product.
    /// - Throws: `CryptoError.malformedPublicKey` if `peer` is not an uncompressed point on the curve, and
    ///   `.malformedPrivateKey` if the scalar is 0 or not below the group's order.
    func sharedSecret(_ scalar: [UInt8], _ peer: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard try load(scalar) else { throw .malformedPrivateKey }
        guard contains(peer) else { throw .malformedPublicKey }
        var bytes = [UInt8](repeating: 0, count: P256Group.scalarByteCount)
        guard EC_POINT_mul(group.pointer, product, nil, point, number, context) == 1,
            EC_POINT_get_affine_coordinates(group.pointer, product, coordinate, nil, context) == 1,
            BN_bn2binpad(coordinate, &bytes, Int32(bytes.count)) == Int32(bytes.count)
        else { throw Self.failure("key agreement") }
        return bytes
    }

    /// Returns true if the bytes are an uncompressed point on the curve.
    func contains(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == P256Group.pointByteCount, bytes[0] == 4 else { return false }
        // This fails if the point does not satisfy the curve's equation. The point at infinity has no uncompressed
        // form, so it needs no check.
        guard EC_POINT_oct2point(group.pointer, point, bytes, bytes.count, context) == 1 else {
            ERR_clear_error()
            return false
        }
        return true
    }

    private func load(_ scalar: [UInt8]) throws(CryptoError) -> Bool {
        guard scalar.count == P256Group.scalarByteCount else {
            throw .wrongLength(expected: P256Group.scalarByteCount, actual: scalar.count)
        }
        guard BN_bin2bn(scalar, Int32(scalar.count), number) != nil else { throw Self.noMemory }
        return BN_is_zero(number) == 0 && BN_cmp(number, group.order) < 0
    }

    private static let noMemory = CryptoError.failed(operation: "key agreement set-up")

    private static func failure(_ operation: String) -> CryptoError {
        ERR_clear_error()
        return .failed(operation: operation)
    }
}
