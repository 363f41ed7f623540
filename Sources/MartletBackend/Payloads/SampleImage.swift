import MartletCrypto

/// The picture that the sample of a rich notification shows: a bird in the evening, 128 by 96 pixels.
enum SampleImage {
    static let png: [UInt8] = Base64.decode(text.filter { $0 != "\n" }) ?? []

    private static let text = """
        iVBORw0KGgoAAAANSUhEUgAAAIAAAABgBAMAAAAnVGd6AAAAGFBMVEUYTnceYJEadZ8Wiq00oKRStpr/0WYRHSvOLcs4AAABfUlE
        QVR42u2SQXLDIAxFWXXvjQ/gDQdgwQUykxN0uk2z8AFcZ3T9JMWAUBEYk8STKX/GBlvS40u2EE1N76pTXfl406myvobwYQBjpYHt
        FqwBZKErkqsfv5c3Lwb0HjD+VwCqt1NsQ3z5n1gP6GkHpYCOGigG9MRAJ4ZCmfqzey4GDGH9BsAwnPFDDgAwpRMyAAkAxQBcdNs6
        C3GYiJhGVWQbaUjE621muIsRBFO/ZAabKEH87d8KA+h7DiCXsLSZ0i8+lAC4oFyORosPTSxAQtiLBcjAuQQWAGSa02KdzE5ODCAI
        /FYZgKSzBwYA7Achg8MnCeWkf1QgXE9DfosAJElpBCAhlOsBmiYp1gBOFoqXZg0otQqgWANrATpvIA1QeQMZgM4aaIAsQGU/wtMB
        OtfBAwCHpO4tzMmMNwAcqwDHOwCqAPNhb4C5NgMAjIvtgNnedgKY9tNDeDLAmN8RAAGHAXwmBGb5uiRykoALWUsB7mTY6mCNGqAB
        GsDoCtU+tudbM6V3AAAAAElFTkSuQmCC
        """
}
