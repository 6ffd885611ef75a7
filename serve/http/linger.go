package http

import "time"

// lingerBytes is how many bytes linger reads at most.
const lingerBytes = 16 << 20

// linger ends the connection's output and drops the bytes that the client is still sending. A socket
// closed with bytes unread is reset, and the client may lose the response over that.
func (c *fastConn) linger() {
	under := c.Conn
	if secure, ok := under.(*tlsConn); ok {
		_ = secure.CloseWrite()
		under = secure.NetConn()
	}
	half, ok := under.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	lingerTime, lingerIdle := c.listener.cfg.lingerTime, c.listener.cfg.lingerIdle
	end := time.Now().Add(lingerTime)
	buf := c.listener.drains.Get().(*[]byte)
	defer c.listener.drains.Put(buf)
	for left := lingerBytes; left > 0; {
		now := time.Now()
		if c.listener.stopped.Load() {
			end = earlier(end, now.Add(lingerIdle))
		}
		if !now.Before(end) || under.SetReadDeadline(earlier(end, now.Add(lingerIdle))) != nil {
			return
		}
		n, err := under.Read(*buf)
		if err != nil {
			return
		}
		left -= n
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
