/* A tunnel as a plain C program would be: one packet a call, no offloads.
 * usage: one-packet TUN LOCAL-IP PEER-IP PORT */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  struct ifreq request;
  memset(&request, 0, sizeof request);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  strncpy(request.ifr_name, argv[1], IFNAMSIZ - 1);
  if (tun < 0 || ioctl(tun, TUNSETIFF, &request) < 0) return perror("tun"), 1;
  int udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  int buffer = 8 << 20;
  setsockopt(udp, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  setsockopt(udp, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
  struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[4]))};
  struct sockaddr_in peer = local;
  inet_pton(AF_INET, argv[2], &local.sin_addr);
  inet_pton(AF_INET, argv[3], &peer.sin_addr);
  if (bind(udp, (struct sockaddr *)&local, sizeof local) < 0) return perror("bind"), 1;
  puts("ready");
  fflush(stdout);
  struct pollfd both[2] = {{.fd = tun, .events = POLLIN}, {.fd = udp, .events = POLLIN}};
  static char packet[65536];
  for (;;) {
    poll(both, 2, -1);
    if (both[0].revents & POLLIN)
      for (int i = 0; i < 64; i++) {
        ssize_t n = read(tun, packet, sizeof packet);
        if (n <= 0) break;
        sendto(udp, packet, n, MSG_DONTWAIT, (struct sockaddr *)&peer, sizeof peer);
      }
    if (both[1].revents & POLLIN)
      for (int i = 0; i < 64; i++) {
        ssize_t n = recv(udp, packet, sizeof packet, MSG_DONTWAIT);
        if (n <= 0) break;
        if (write(tun, packet, n) < 0) continue;
      }
  }
}
