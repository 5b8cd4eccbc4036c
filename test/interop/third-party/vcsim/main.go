// Command vcsim serves the simulator of the govmomi project on a given port of the loopback interface: a component
// manager that somebody else wrote, against which our driver is tested. It prints its address, then runs until its
// standard input ends, so that it cannot outlive the test that has started it.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/vmware/govmomi/simulator"
)

func main() {
	port := flag.Int("port", 0, "port to listen on; 0 takes a free one")
	clusters := flag.Int("clusters", 1, "clusters, at most 4")
	hosts := flag.Int("hosts", 2, "hosts of each cluster, at most 4")
	plain := flag.Bool("plain", true, "HTTP instead of HTTPS with a certificate of its own")
	flag.Parse()
	if *clusters < 1 || *clusters > 4 || *hosts < 1 || *hosts > 4 {
		fail(fmt.Errorf("clusters and hosts must be from 1 to 4"))
	}

	model := simulator.VPX()
	model.Host = 0
	model.Cluster = *clusters
	model.ClusterHost = *hosts
	model.Machine = 2
	if err := model.Create(); err != nil {
		fail(err)
	}
	defer model.Remove()

	model.Service.Listen = &url.URL{
		Host: fmt.Sprintf("127.0.0.1:%d", *port),
		User: url.UserPassword("svc-upgrade", "secret"),
	}
	if !*plain {
		model.Service.TLS = new(tls.Config)
	}
	server := model.Service.NewServer()
	defer server.Close()

	address := *server.URL
	address.User = nil
	address.Path = ""
	fmt.Println(address.String())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
