// What `docker compose config -q` says of a project: loads it as Compose does, with the library that Compose is made of.
// Where it cannot be loaded, or something is to be warned of, standard error says so. Prints the project as JSON.
//
//	compose-config [FILE…]    in the folder of the project; COMPOSE_PROFILES and .env count
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:],
		cli.WithOsEnv,
		cli.WithEnvFiles(),
		cli.WithDotEnv,
		cli.WithConfigFileEnv,
		cli.WithDefaultConfigPath,
		cli.WithDefaultProfiles(),
	)
	fail(err)
	project, err := options.LoadProject(context.Background())
	fail(err)
	project, err = project.WithServicesEnvironmentResolved(true)
	fail(err)
	fail(project.CheckContainerNameUnicity())
	content, err := project.MarshalJSON()
	fail(err)
	fmt.Println(string(content))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
