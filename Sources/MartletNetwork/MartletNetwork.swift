import CMartletLLHTTP
import CMartletLinux
import CMartletNGHTTP2
import CMartletOpenSSL

func probe() {
    _ = llhttp_settings_t()
    _ = epoll_event()
    _ = martlet_EVP_PKEY_KEYPAIR()
    _ = nghttp2_settings_entry()
}
